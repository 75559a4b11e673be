%% Erlang/OTP: plain processes and messages, as its documentation writes them. Run by the benchmark runner:
%%   erl -noshell -s bench main <benchmark> <warm-up ms> <measure ms>
%% Prints operations per second of each repetition after the warm-up as JSON; halts with 3 for one it does not have.
-module(bench).
-export([main/1]).

main(Arguments) ->
    [Name, Warm, Measure] = [atom_to_list(A) || A <- Arguments],
    case Name of
        "idle" -> io:format("[~p]~n", [idle(200000)]);
        _ ->
            _ = repeat(Name, list_to_integer(Warm)),
            Rates = repeat(Name, list_to_integer(Measure)),
            io:format("[~s]~n", [lists:join(",", [float_to_list(R, [{decimals, 1}]) || R <- Rates])])
    end,
    halt(0).

%% At least once, and again until the time is over.
repeat(Name, Milliseconds) -> again(Name, erlang:monotonic_time(millisecond) + Milliseconds).

again(Name, End) ->
    Rate = measure(Name),
    case erlang:monotonic_time(millisecond) >= End of
        true -> [Rate];
        false -> [Rate | again(Name, End)]
    end.

measure(Name) ->
    Started = erlang:monotonic_time(microsecond),
    Operations = run(Name),
    Operations / (erlang:monotonic_time(microsecond) - Started) * 1000000.

run("ping-pong") -> ring(2, 2000000);
run("thread ring") -> ring(100, 2000000);
run("counting") ->
    N = 1000000,
    Self = self(),
    Counter = spawn(fun() -> counter(0) end),
    spawn(fun() ->
        produce(Counter, N),
        Counter ! {read, Self}
    end),
    receive {sum, N} -> N end;
run("fork-join throughput") ->
    Workers = 60, Each = 10000, Self = self(),
    Pids = [spawn(fun() -> throughput_worker(Self, Each) end) || _ <- lists:seq(1, Workers)],
    lists:foreach(fun(I) -> [P ! {work, I} || P <- Pids] end, lists:seq(1, Each)),
    wait(done, Workers),
    Workers * Each;
run("fork-join create") ->
    N = 200000, Self = self(),
    lists:foreach(fun(I) ->
        P = spawn(fun() -> receive {work, K} -> _ = math:sin(K), Self ! done end end),
        P ! {work, I}
    end, lists:seq(1, N)),
    wait(done, N),
    N;
run("big") ->
    Size = 120, Pings = 5000, Self = self(),
    Pids = [spawn(fun() -> big_start(I, Pings, Self) end) || I <- lists:seq(1, Size)],
    Tuple = list_to_tuple(Pids),
    [P ! {start, Tuple} || P <- Pids],
    wait(done, Size),
    [exit(P, kill) || P <- Pids],
    Size * Pings * 2;
run("skynet") ->
    Self = self(),
    spawn(fun() -> skynet(Self, 0, 1000000) end),
    receive {sum, 499999500000} -> 1111111 end;
run("ask sequential") ->
    N = 200000,
    Echo = spawn(fun echo/0),
    lists:foreach(fun(_) -> 1 = call(Echo, 1) end, lists:seq(1, N)),
    exit(Echo, kill),
    N;
run("ask concurrent") ->
    N = 200000, Self = self(),
    Echo = spawn(fun echo/0),
    lists:foreach(fun(_) ->
        [spawn(fun() -> 1 = call(Echo, 1), Self ! done end) || _ <- lists:seq(1, 1000)],
        wait(done, 1000)
    end, lists:seq(1, N div 1000)),
    exit(Echo, kill),
    N;
run("concurrent dictionary") ->
    Workers = 20, Requests = 50000, Self = self(),
    Dictionary = spawn(fun() -> dictionary(#{}) end),
    [spawn(fun() -> dictionary_worker(Dictionary, W, Requests, Self) end) || W <- lists:seq(1, Workers)],
    wait(done, Workers),
    exit(Dictionary, kill),
    Workers * Requests;
run("logistic map") ->
    Series = 10, Terms = 100000, Self = self(),
    [spawn(fun() -> series(3.46 + S * 0.0025, S * 0.0025, Terms, Self) end) || S <- lists:seq(0, Series - 1)],
    wait(done, Series),
    Series * Terms;
run("N-queens") ->
    14200 = queens([], 12),
    14200;
run(_) ->
    halt(3).

wait(_, 0) -> ok;
wait(Message, N) -> receive Message -> wait(Message, N - 1) end.

ring(Size, Hops) ->
    Self = self(),
    First = spawn(fun() -> receive {next, Next} -> member(Next, Self) end end),
    Last = lists:foldl(fun(_, Next) -> spawn(fun() -> member(Next, Self) end) end, First, lists:seq(2, Size)),
    First ! {next, Last},
    Last ! {ball, Hops},
    receive finished -> ok end,
    exit(First, kill),
    Hops.

member(Next, Done) ->
    receive
        {ball, 0} -> Done ! finished, member(Next, Done);
        {ball, Left} -> Next ! {ball, Left - 1}, member(Next, Done)
    end.

counter(Sum) ->
    receive
        {add, By} -> counter(Sum + By);
        {read, From} -> From ! {sum, Sum}
    end.

produce(_, 0) -> ok;
produce(Counter, N) -> Counter ! {add, 1}, produce(Counter, N - 1).

throughput_worker(Parent, 0) -> Parent ! done;
throughput_worker(Parent, Left) -> receive {work, N} -> _ = math:sin(N), throughput_worker(Parent, Left - 1) end.

big_start(I, Pings, Parent) ->
    rand:seed(exsss, {I, I, I}),
    receive {start, Members} ->
        self() ! pong,
        big(Members, I, Pings, Parent)
    end.

big(Members, I, Left, Parent) ->
    receive
        {ping, From} -> From ! pong, big(Members, I, Left, Parent);
        pong when Left > 0 ->
            element(rand:uniform(tuple_size(Members)), Members) ! {ping, self()},
            big(Members, I, Left - 1, Parent);
        pong -> Parent ! done, big(Members, I, Left, Parent)
    end.

skynet(Parent, From, 1) -> Parent ! {sum, From};
skynet(Parent, From, Size) ->
    Self = self(),
    [spawn(fun() -> skynet(Self, From + I * (Size div 10), Size div 10) end) || I <- lists:seq(0, 9)],
    Parent ! {sum, skynet_sum(10, 0)}.

skynet_sum(0, Sum) -> Sum;
skynet_sum(N, Sum) -> receive {sum, S} -> skynet_sum(N - 1, Sum + S) end.

echo() -> receive {From, Ref, Value} -> From ! {Ref, Value}, echo() end.

%% What gen_server:call does: a monitor, a reference, a timeout.
call(Pid, Value) ->
    Ref = monitor(process, Pid),
    Pid ! {self(), Ref, Value},
    receive
        {Ref, Reply} -> demonitor(Ref, [flush]), Reply
    after 5000 -> exit(timeout)
    end.

dictionary(Map) ->
    receive
        {put, Key, Value, From} -> From ! {value, Value}, dictionary(Map#{Key => Value});
        {get, Key, From} -> From ! {value, maps:get(Key, Map, 0)}, dictionary(Map)
    end.

dictionary_worker(_, _, 0, Parent) -> Parent ! done;
dictionary_worker(Dictionary, W, Left, Parent) ->
    Key = rand:uniform(512),
    case rand:uniform(100) =< 10 of
        true -> Dictionary ! {put, Key, Left, self()};
        false -> Dictionary ! {get, Key, self()}
    end,
    receive {value, _} -> dictionary_worker(Dictionary, W, Left - 1, Parent) end.

series(Rate, Start, Terms, Parent) ->
    Self = self(),
    Computer = spawn(fun() -> compute(Rate, Self) end),
    series_loop(Computer, Start, Terms),
    exit(Computer, kill),
    Parent ! done.

series_loop(_, _, 0) -> ok;
series_loop(Computer, Term, Left) -> Computer ! {compute, Term}, receive {term, T} -> series_loop(Computer, T, Left - 1) end.

compute(Rate, Series) -> receive {compute, T} -> Series ! {term, Rate * T * (1 - T)}, compute(Rate, Series) end.

%% One process for each way to place the first four queens; the rest is solved inside.
queens(Rows, Board) when length(Rows) < 4 ->
    Self = self(),
    Safe = [C || C <- lists:seq(0, Board - 1), safe(Rows, C)],
    [spawn(fun() -> Self ! {solutions, queens([C | Rows], Board)} end) || C <- Safe],
    lists:sum([receive {solutions, S} -> S end || _ <- Safe]);
queens(Rows, Board) -> solve(Rows, Board).

solve(Rows, Board) when length(Rows) =:= Board -> 1;
solve(Rows, Board) -> lists:sum([solve([C | Rows], Board) || C <- lists:seq(0, Board - 1), safe(Rows, C)]).

safe(Rows, Column) -> safe(Rows, Column, 1).
safe([], _, _) -> true;
safe([C | Rest], Column, D) -> C =/= Column andalso abs(C - Column) =/= D andalso safe(Rest, Column, D + 1).

%% Bytes per idle process, each registered in a table by name and after one message.
idle(N) ->
    Self = self(),
    Before = erlang:memory(total),
    Pids = [spawn(fun() -> idle_loop(Self) end) || _ <- lists:seq(1, N)],
    [P ! hello || P <- Pids],
    wait(greeted, N),
    (erlang:memory(total) - Before) / N.

idle_loop(Parent) -> receive hello -> Parent ! greeted, idle_loop(Parent) end.
