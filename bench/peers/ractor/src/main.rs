// ractor on tokio's multi-threaded runtime: actors as its documentation writes them. Run by the benchmark runner:
// bench-peer <benchmark> <warm-up ms> <measure ms>. Prints operations per second of each repetition after the warm-up
// as JSON; exits with 3 for a benchmark it does not have.

use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// An actor whose state is what its handler needs; most benchmarks differ in the handler alone.
struct Plain<M, S>(std::marker::PhantomData<fn(M, S)>);

struct State<M: ractor::Message, S> {
    value: S,
    handler: fn(&ActorRef<M>, M, &mut S),
}

impl<M: ractor::Message, S: ractor::State> Actor for Plain<M, S> {
    type Msg = M;
    type State = State<M, S>;
    type Arguments = State<M, S>;
    async fn pre_start(&self, _: ActorRef<M>, args: Self::Arguments) -> Result<Self::State, ActorProcessingErr> {
        Ok(args)
    }
    async fn handle(&self, myself: ActorRef<M>, message: M, state: &mut Self::State) -> Result<(), ActorProcessingErr> {
        (state.handler)(&myself, message, &mut state.value);
        Ok(())
    }
}

async fn spawn<M: ractor::Message, S: ractor::State>(value: S, handler: fn(&ActorRef<M>, M, &mut S)) -> ActorRef<M> {
    named(None, value, handler).await
}

async fn named<M: ractor::Message, S: ractor::State>(name: Option<String>, value: S, handler: fn(&ActorRef<M>, M, &mut S)) -> ActorRef<M> {
    Actor::spawn(name, Plain(std::marker::PhantomData), State { value, handler }).await.expect("spawns").0
}

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().collect();
    let name = args[1].as_str();
    if name == "idle" {
        println!("[{:.1}]", idle(200_000).await);
        return;
    }
    let run: fn() -> Boxed<u64> = match name {
        "ping-pong" => || Box::pin(ring(2, 500_000)),
        "thread ring" => || Box::pin(ring(100, 500_000)),
        "counting" => || Box::pin(counting(500_000)),
        "fork-join throughput" => || Box::pin(throughput(60, 10_000)),
        "fork-join create" => || Box::pin(create(50_000)),
        "big" => || Box::pin(big(120, 2_000)),
        "skynet" => || Box::pin(skynet(100_000)),
        "ask sequential" => || Box::pin(ask_sequential(50_000)),
        "ask concurrent" => || Box::pin(ask_concurrent(50, 1_000)),
        "concurrent dictionary" => || Box::pin(dictionary(20, 10_000)),
        "logistic map" => || Box::pin(logistic(10, 25_000)),
        "N-queens" => || Box::pin(queens(14_200)),
        _ => std::process::exit(3),
    };
    let warm = Instant::now() + Duration::from_millis(args[2].parse().unwrap());
    loop {
        measure(run).await;
        if Instant::now() >= warm {
            break;
        }
    }
    let end = Instant::now() + Duration::from_millis(args[3].parse().unwrap());
    let mut rates = vec![measure(run).await];
    while Instant::now() < end {
        rates.push(measure(run).await);
    }
    println!("{rates:?}");
}

async fn measure(run: fn() -> Boxed<u64>) -> f64 {
    let started = Instant::now();
    // On a worker thread, as a server's own code would be.
    let operations = tokio::spawn(run()).await.expect("finishes");
    operations as f64 / started.elapsed().as_secs_f64()
}

enum Ball {
    Next(ActorRef<Ball>),
    Left(u64),
}

async fn ring(size: usize, hops: u64) -> u64 {
    let (done, mut finished) = mpsc::unbounded_channel::<()>();
    let mut members = Vec::new();
    for _ in 0..size {
        members.push(
            spawn(
                (None::<ActorRef<Ball>>, done.clone()),
                |_, m, (next, done)| match m {
                    Ball::Next(to) => *next = Some(to),
                    Ball::Left(0) => done.send(()).unwrap(),
                    Ball::Left(n) => next.as_ref().unwrap().cast(Ball::Left(n - 1)).unwrap(),
                },
            )
            .await,
        );
    }
    for i in 0..size {
        members[i].cast(Ball::Next(members[(i + 1) % size].clone())).unwrap();
    }
    members[0].cast(Ball::Left(hops)).unwrap();
    finished.recv().await;
    members.iter().for_each(|m| m.stop(None));
    hops
}

enum Count {
    Add(u64),
    Read,
}

async fn counting(n: u64) -> u64 {
    let (done, mut finished) = mpsc::unbounded_channel::<u64>();
    let counter = spawn((0u64, done), |_, m, (sum, done)| match m {
        Count::Add(by) => *sum += by,
        Count::Read => done.send(*sum).unwrap(),
    })
    .await;
    let producer = spawn((counter.clone(), n), |me: &ActorRef<()>, (), (counter, n)| {
        for _ in 0..*n {
            counter.cast(Count::Add(1)).unwrap();
        }
        counter.cast(Count::Read).unwrap();
        me.stop(None);
    })
    .await;
    producer.cast(()).unwrap();
    assert_eq!(finished.recv().await, Some(n));
    counter.stop(None);
    n
}

async fn throughput(workers: u64, each: u64) -> u64 {
    let (done, mut finished) = mpsc::unbounded_channel::<()>();
    let mut members = Vec::new();
    for _ in 0..workers {
        members.push(
            spawn((0u64, each, done.clone()), |me: &ActorRef<u64>, n, (seen, each, done)| {
                if (n as f64).sin() < 2.0 {
                    *seen += 1;
                    if seen == each {
                        done.send(()).unwrap();
                        me.stop(None);
                    }
                }
            })
            .await,
        );
    }
    for n in 0..each {
        for member in &members {
            member.cast(n).unwrap();
        }
    }
    for _ in 0..workers {
        finished.recv().await;
    }
    workers * each
}

async fn create(n: u64) -> u64 {
    let (done, mut finished) = mpsc::unbounded_channel::<()>();
    for i in 0..n {
        let worker = spawn(done.clone(), |me: &ActorRef<u64>, n, done| {
            if (n as f64).sin() < 2.0 {
                done.send(()).unwrap();
                me.stop(None);
            }
        })
        .await;
        worker.cast(i).unwrap();
    }
    for _ in 0..n {
        finished.recv().await;
    }
    n
}

enum Big {
    Members(Vec<ActorRef<Big>>),
    Ping(ActorRef<Big>),
    Pong,
}

struct Member {
    members: Vec<ActorRef<Big>>,
    left: u64,
    dice: u32,
    done: mpsc::UnboundedSender<()>,
}

async fn big(size: usize, pings: u64) -> u64 {
    let (done, mut finished) = mpsc::unbounded_channel::<()>();
    let mut members = Vec::new();
    for i in 0..size {
        let state = Member { members: Vec::new(), left: pings, dice: i as u32 + 1, done: done.clone() };
        members.push(
            spawn(state, |me, m, state| match m {
                Big::Members(all) => state.members = all,
                Big::Ping(from) => from.cast(Big::Pong).unwrap(),
                Big::Pong if state.left > 0 => {
                    state.left -= 1;
                    let at = roll(&mut state.dice) as usize % state.members.len();
                    state.members[at].cast(Big::Ping(me.clone())).unwrap();
                }
                Big::Pong => state.done.send(()).unwrap(),
            })
            .await,
        );
    }
    for member in &members {
        member.cast(Big::Members(members.clone())).unwrap();
    }
    for member in &members {
        member.cast(Big::Pong).unwrap();
    }
    for _ in 0..size {
        finished.recv().await;
    }
    members.iter().for_each(|m| m.stop(None));
    size as u64 * pings * 2
}

fn roll(state: &mut u32) -> u32 {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    *state
}

/// A node of the tree: its children are spawned in its start, as children; it answers the sum of them.
struct Node;
struct NodeState {
    parent: ActorRef<u64>,
    total: u64,
    left: u32,
}

impl Actor for Node {
    type Msg = u64;
    type State = NodeState;
    type Arguments = (ActorRef<u64>, u64, u64);
    async fn pre_start(&self, me: ActorRef<u64>, (parent, from, size): Self::Arguments) -> Result<NodeState, ActorProcessingErr> {
        if size == 1 {
            parent.cast(from)?;
            me.stop(None);
        } else {
            for i in 0..10 {
                let child: Boxed<_> = Box::pin(Actor::spawn(None, Node, (me.clone(), from + i * (size / 10), size / 10)));
                child.await?;
            }
        }
        Ok(NodeState { parent, total: 0, left: 10 })
    }
    async fn handle(&self, me: ActorRef<u64>, part: u64, state: &mut NodeState) -> Result<(), ActorProcessingErr> {
        state.total += part;
        state.left -= 1;
        if state.left == 0 {
            state.parent.cast(state.total)?;
            me.stop(None);
        }
        Ok(())
    }
}

async fn skynet(size: u64) -> u64 {
    let (done, mut finished) = mpsc::unbounded_channel::<u64>();
    let top = spawn(done, |_, sum: u64, done| done.send(sum).unwrap()).await;
    Actor::spawn(None, Node, (top.clone(), 0, size)).await.expect("spawns");
    assert_eq!(finished.recv().await, Some(size * (size - 1) / 2));
    top.stop(None);
    (size * 10 - 1) / 9
}

struct Echo(u64, RpcReplyPort<u64>);

async fn echo() -> ActorRef<Echo> {
    spawn((), |_, Echo(value, reply): Echo, ()| reply.send(value).unwrap()).await
}

async fn ask(target: &ActorRef<Echo>) -> u64 {
    target.call(|reply| Echo(1, reply), Some(Duration::from_secs(5))).await.unwrap().unwrap()
}

async fn ask_sequential(n: u64) -> u64 {
    let target = echo().await;
    let mut got = 0;
    for _ in 0..n {
        got += ask(&target).await;
    }
    assert_eq!(got, n);
    target.stop(None);
    n
}

async fn ask_concurrent(rounds: u64, ways: u64) -> u64 {
    let target = echo().await;
    let mut got = 0;
    for _ in 0..rounds {
        let answers: Vec<_> = (0..ways)
            .map(|_| {
                let target = target.clone();
                tokio::spawn(async move { ask(&target).await })
            })
            .collect();
        for answer in answers {
            got += answer.await.unwrap();
        }
    }
    assert_eq!(got, rounds * ways);
    target.stop(None);
    rounds * ways
}

enum Request {
    Put(u32, u64, ActorRef<u64>),
    Get(u32, ActorRef<u64>),
}

async fn dictionary(workers: u64, requests: u64) -> u64 {
    let (done, mut finished) = mpsc::unbounded_channel::<()>();
    let target = spawn(HashMap::<u32, u64>::new(), |_, m, table| match m {
        Request::Put(key, value, from) => {
            table.insert(key, value);
            from.cast(value).unwrap();
        }
        Request::Get(key, from) => from.cast(*table.get(&key).unwrap_or(&0)).unwrap(),
    })
    .await;
    for w in 0..workers {
        let worker = spawn((target.clone(), w as u32 + 1, requests, done.clone()), |me: &ActorRef<u64>, _, (target, dice, left, done)| {
            if *left == 0 {
                done.send(()).unwrap();
                me.stop(None);
                return;
            }
            *left -= 1;
            let key = roll(dice) % 512;
            let request = if roll(dice) % 100 < 10 { Request::Put(key, *left, me.clone()) } else { Request::Get(key, me.clone()) };
            target.cast(request).unwrap();
        })
        .await;
        worker.cast(0).unwrap();
    }
    for _ in 0..workers {
        finished.recv().await;
    }
    target.stop(None);
    workers * requests
}

struct Compute(f64, ActorRef<f64>);

async fn logistic(series: u64, terms: u64) -> u64 {
    let (done, mut finished) = mpsc::unbounded_channel::<()>();
    let mut computers = Vec::new();
    for s in 0..series {
        let computer = spawn(3.46 + s as f64 * 0.0025, |_, Compute(term, from), rate: &mut f64| from.cast(*rate * term * (1.0 - term)).unwrap()).await;
        let worker = spawn((computer.clone(), terms, done.clone()), |me: &ActorRef<f64>, term, (computer, left, done)| {
            if *left == 0 {
                done.send(()).unwrap();
                me.stop(None);
                return;
            }
            *left -= 1;
            computer.cast(Compute(term, me.clone())).unwrap();
        })
        .await;
        worker.cast(s as f64 * 0.0025).unwrap();
        computers.push(computer);
    }
    for _ in 0..series {
        finished.recv().await;
    }
    computers.iter().for_each(|c| c.stop(None));
    series * terms
}

enum Queens {
    Workers(Vec<ActorRef<Place>>),
    Place(Vec<i32>),
    Solved(u64, i64),
}

struct Place(Vec<i32>, ActorRef<Queens>);

struct Master {
    workers: Vec<ActorRef<Place>>,
    turn: usize,
    outstanding: i64,
    solutions: u64,
    done: Option<oneshot::Sender<u64>>,
}

const BOARD: i32 = 12;

async fn queens(expected: u64) -> u64 {
    let (done, finished) = oneshot::channel();
    let state = Master { workers: Vec::new(), turn: 0, outstanding: 1, solutions: 0, done: Some(done) };
    let master = spawn(state, |me, m, state| match m {
        Queens::Workers(all) => state.workers = all,
        Queens::Place(rows) => {
            let at = state.turn % state.workers.len();
            state.turn += 1;
            state.workers[at].cast(Place(rows, me.clone())).unwrap();
        }
        Queens::Solved(solutions, spawned) => {
            state.solutions += solutions;
            state.outstanding += spawned - 1;
            if state.outstanding == 0 {
                state.done.take().unwrap().send(state.solutions).unwrap();
            }
        }
    })
    .await;
    let mut workers = Vec::new();
    for _ in 0..20 {
        workers.push(
            spawn((), |_, Place(rows, master): Place, ()| {
                if rows.len() >= 4 {
                    master.cast(Queens::Solved(solve(&rows), 0)).unwrap();
                    return;
                }
                let mut spawned = 0;
                for column in (0..BOARD).filter(|&c| safe(&rows, c)) {
                    spawned += 1;
                    master.cast(Queens::Place(with(&rows, column))).unwrap();
                }
                master.cast(Queens::Solved(0, spawned)).unwrap();
            })
            .await,
        );
    }
    master.cast(Queens::Workers(workers.clone())).unwrap();
    master.cast(Queens::Place(Vec::new())).unwrap();
    assert_eq!(finished.await, Ok(expected));
    workers.iter().for_each(|w| w.stop(None));
    master.stop(None);
    expected
}

fn with(rows: &[i32], column: i32) -> Vec<i32> {
    let mut more = rows.to_vec();
    more.push(column);
    more
}

fn safe(rows: &[i32], column: i32) -> bool {
    rows.iter().enumerate().all(|(r, &c)| c != column && (c - column).unsigned_abs() as usize != rows.len() - r)
}

fn solve(rows: &[i32]) -> u64 {
    if rows.len() == BOARD as usize {
        return 1;
    }
    (0..BOARD).filter(|&c| safe(rows, c)).map(|c| solve(&with(rows, c))).sum()
}

/// Resident bytes per idle actor: named, each after one message.
async fn idle(n: u64) -> f64 {
    let before = resident();
    let (done, mut finished) = mpsc::unbounded_channel::<()>();
    let mut all = Vec::new();
    for i in 0..n {
        let actor = named(Some(format!("a{i}")), done.clone(), |_, _: u64, done| done.send(()).unwrap()).await;
        actor.cast(i).unwrap();
        all.push(actor);
    }
    for _ in 0..n {
        finished.recv().await;
    }
    (resident() - before) as f64 / n as f64
}

fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("a Linux machine");
    statm.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}
