// Proto.Actor for Go: actors from functions with default props, as its documentation writes them. Run by the benchmark
// runner: bench-peer <benchmark> <warm-up ms> <measure ms>. Prints operations per second of each repetition after the
// warm-up as JSON; exits with 3 for a benchmark it does not have.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

type benchmark struct {
	operations int
	expected   int
	run        func(root *actor.RootContext, finish func(int)) []*actor.PID
}

var benchmarks = map[string]benchmark{
	"ping-pong":             ring(2, 200_000),
	"thread ring":           ring(100, 200_000),
	"counting":              counting(1_000_000),
	"fork-join throughput":  throughput(60, 10_000),
	"fork-join create":      create(20_000),
	"big":                   big(120, 1_000),
	"skynet":                skynet(100_000),
	"ask sequential":        askSequential(20_000),
	"ask concurrent":        askConcurrent(50, 1_000),
	"concurrent dictionary": dictionary(20, 2_000),
	"logistic map":          logistic(10, 5_000),
	"N-queens":              queens(12, 4, 14_200),
}

func main() {
	system := actor.NewActorSystemWithConfig(actor.Configure(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
		return slog.New(slog.NewTextHandler(io.Discard, nil))
	})))
	name := os.Args[1]
	if name == "idle" {
		fmt.Printf("[%f]\n", idle(system.Root, 200_000))
		return
	}
	b, known := benchmarks[name]
	if !known {
		os.Exit(3)
	}
	warm := time.Now().Add(milliseconds(os.Args[2]))
	for measure(system.Root, b); time.Now().Before(warm); {
		measure(system.Root, b)
	}
	end := time.Now().Add(milliseconds(os.Args[3]))
	rates := []float64{measure(system.Root, b)}
	for time.Now().Before(end) {
		rates = append(rates, measure(system.Root, b))
	}
	out, _ := json.Marshal(rates)
	fmt.Println(string(out))
}

func milliseconds(text string) time.Duration {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return time.Duration(n) * time.Millisecond
}

func measure(root *actor.RootContext, b benchmark) float64 {
	started := time.Now()
	done := make(chan int, 1)
	pids := b.run(root, func(result int) { done <- result })
	if result := <-done; result != b.expected {
		panic(fmt.Sprintf("expected %d, got %d", b.expected, result))
	}
	rate := float64(b.operations) / time.Since(started).Seconds()
	for _, pid := range pids {
		root.Stop(pid)
	}
	return rate
}

func spawn(root *actor.RootContext, receive func(actor.Context)) *actor.PID {
	return root.Spawn(actor.PropsFromFunc(receive))
}

type ball struct{ left int }

func ring(size, hops int) benchmark {
	return benchmark{hops, hops, func(root *actor.RootContext, finish func(int)) []*actor.PID {
		members := make([]*actor.PID, size)
		for i := range members {
			next := (i + 1) % size
			members[i] = spawn(root, func(ctx actor.Context) {
				if m, ok := ctx.Message().(*ball); ok {
					if m.left > 0 {
						ctx.Send(members[next], &ball{m.left - 1})
					} else {
						finish(hops)
					}
				}
			})
		}
		root.Send(members[0], &ball{hops})
		return members
	}}
}

type add struct{ by int }
type read struct{}
type start struct{}

func counting(n int) benchmark {
	return benchmark{n, n, func(root *actor.RootContext, finish func(int)) []*actor.PID {
		sum := 0
		counter := spawn(root, func(ctx actor.Context) {
			switch m := ctx.Message().(type) {
			case *add:
				sum += m.by
			case *read:
				finish(sum)
			}
		})
		producer := spawn(root, func(ctx actor.Context) {
			if _, ok := ctx.Message().(*start); ok {
				for i := 0; i < n; i++ {
					ctx.Send(counter, &add{1})
				}
				ctx.Send(counter, &read{})
			}
		})
		root.Send(producer, &start{})
		return []*actor.PID{counter, producer}
	}}
}

type work struct{ n int }
type done struct{}

// latch counts completions down, then calls back.
func latch(root *actor.RootContext, count int, open func()) *actor.PID {
	left := count
	return spawn(root, func(ctx actor.Context) {
		if _, ok := ctx.Message().(*done); ok {
			left--
			if left == 0 {
				open()
			}
		}
	})
}

func throughput(workers, each int) benchmark {
	return benchmark{workers * each, workers, func(root *actor.RootContext, finish func(int)) []*actor.PID {
		end := latch(root, workers, func() { finish(workers) })
		members := make([]*actor.PID, workers)
		for w := range members {
			seen := 0
			members[w] = spawn(root, func(ctx actor.Context) {
				if m, ok := ctx.Message().(*work); ok && math.Sin(float64(m.n)) < 2 {
					seen++
					if seen == each {
						ctx.Send(end, &done{})
						ctx.Stop(ctx.Self())
					}
				}
			})
		}
		for n := 0; n < each; n++ {
			for _, member := range members {
				root.Send(member, &work{n})
			}
		}
		return []*actor.PID{end}
	}}
}

func create(n int) benchmark {
	return benchmark{n, n, func(root *actor.RootContext, finish func(int)) []*actor.PID {
		end := latch(root, n, func() { finish(n) })
		props := actor.PropsFromFunc(func(ctx actor.Context) {
			if m, ok := ctx.Message().(*work); ok && math.Sin(float64(m.n)) < 2 {
				ctx.Send(end, &done{})
				ctx.Stop(ctx.Self())
			}
		})
		for i := 0; i < n; i++ {
			root.Send(root.Spawn(props), &work{i})
		}
		return []*actor.PID{end}
	}}
}

type ping struct{ from *actor.PID }
type pong struct{}

func big(size, pings int) benchmark {
	return benchmark{size * pings * 2, size, func(root *actor.RootContext, finish func(int)) []*actor.PID {
		end := latch(root, size, func() { finish(size) })
		members := make([]*actor.PID, size)
		for i := range members {
			dice := rand.New(rand.NewSource(int64(i + 1)))
			left := pings
			members[i] = spawn(root, func(ctx actor.Context) {
				switch m := ctx.Message().(type) {
				case *ping:
					ctx.Send(m.from, &pong{})
				case *pong:
					if left > 0 {
						left--
						ctx.Send(members[dice.Intn(size)], &ping{ctx.Self()})
					} else {
						ctx.Send(end, &done{})
					}
				}
			})
		}
		for _, member := range members {
			root.Send(member, &pong{})
		}
		return append(members, end)
	}}
}

type sum struct{ value int }

func skynet(size int) benchmark {
	return benchmark{size*10/9 + 1, size * (size - 1) / 2, func(root *actor.RootContext, finish func(int)) []*actor.PID {
		top := spawn(root, func(ctx actor.Context) {
			if m, ok := ctx.Message().(*sum); ok {
				finish(m.value)
			}
		})
		root.Send(root.Spawn(skynode(top, 0, size)), &start{})
		return []*actor.PID{top}
	}}
}

func skynode(parent *actor.PID, from, size int) *actor.Props {
	total, left := 0, 10
	return actor.PropsFromFunc(func(ctx actor.Context) {
		switch m := ctx.Message().(type) {
		case *start:
			if size == 1 {
				ctx.Send(parent, &sum{from})
				ctx.Stop(ctx.Self())
				return
			}
			for i := 0; i < 10; i++ {
				ctx.Send(ctx.Spawn(skynode(ctx.Self(), from+i*(size/10), size/10)), &start{})
			}
		case *sum:
			total += m.value
			left--
			if left == 0 {
				ctx.Send(parent, &sum{total})
				ctx.Stop(ctx.Self())
			}
		}
	})
}

type echo struct{ value int }

func echoActor(root *actor.RootContext) *actor.PID {
	return spawn(root, func(ctx actor.Context) {
		if m, ok := ctx.Message().(*echo); ok {
			ctx.Respond(m.value)
		}
	})
}

func askSequential(n int) benchmark {
	return benchmark{n, n, func(root *actor.RootContext, finish func(int)) []*actor.PID {
		target := echoActor(root)
		got := 0
		for i := 0; i < n; i++ {
			got += answer(root.RequestFuture(target, &echo{1}, 5*time.Second))
		}
		finish(got)
		return []*actor.PID{target}
	}}
}

func askConcurrent(rounds, ways int) benchmark {
	return benchmark{rounds * ways, rounds * ways, func(root *actor.RootContext, finish func(int)) []*actor.PID {
		target := echoActor(root)
		got := 0
		futures := make([]*actor.Future, ways)
		for r := 0; r < rounds; r++ {
			for w := range futures {
				futures[w] = root.RequestFuture(target, &echo{1}, 5*time.Second)
			}
			for _, future := range futures {
				got += answer(future)
			}
		}
		finish(got)
		return []*actor.PID{target}
	}}
}

func answer(future *actor.Future) int {
	result, err := future.Result()
	if err != nil {
		panic(err)
	}
	return result.(int)
}

type put struct{ key, value int }
type get struct{ key int }
type value struct{ value int }

func dictionary(workers, requests int) benchmark {
	return benchmark{workers * requests, workers, func(root *actor.RootContext, finish func(int)) []*actor.PID {
		end := latch(root, workers, func() { finish(workers) })
		table := map[int]int{}
		target := spawn(root, func(ctx actor.Context) {
			switch m := ctx.Message().(type) {
			case *put:
				table[m.key] = m.value
				ctx.Respond(&value{m.value})
			case *get:
				ctx.Respond(&value{table[m.key]})
			}
		})
		for w := 0; w < workers; w++ {
			dice := rand.New(rand.NewSource(int64(w + 1)))
			left := requests
			worker := spawn(root, func(ctx actor.Context) {
				if _, ok := ctx.Message().(*value); !ok {
					return
				}
				if left == 0 {
					ctx.Send(end, &done{})
					ctx.Stop(ctx.Self())
					return
				}
				left--
				key := dice.Intn(512)
				if dice.Intn(100) < 10 {
					ctx.Request(target, &put{key, left})
				} else {
					ctx.Request(target, &get{key})
				}
			})
			root.Send(worker, &value{0})
		}
		return []*actor.PID{end, target}
	}}
}

type compute struct{ term float64 }
type term struct{ term float64 }

func logistic(series, terms int) benchmark {
	return benchmark{series * terms, series, func(root *actor.RootContext, finish func(int)) []*actor.PID {
		end := latch(root, series, func() { finish(series) })
		pids := []*actor.PID{end}
		for s := 0; s < series; s++ {
			rate := 3.46 + float64(s)*0.0025
			computer := spawn(root, func(ctx actor.Context) {
				if m, ok := ctx.Message().(*compute); ok {
					ctx.Respond(&term{rate * m.term * (1 - m.term)})
				}
			})
			left := terms
			worker := spawn(root, func(ctx actor.Context) {
				if m, ok := ctx.Message().(*term); ok {
					if left == 0 {
						ctx.Send(end, &done{})
						ctx.Stop(ctx.Self())
						return
					}
					left--
					ctx.Request(computer, &compute{m.term})
				}
			})
			root.Send(worker, &term{float64(s) * 0.0025})
			pids = append(pids, computer)
		}
		return pids
	}}
}

type place struct{ rows []int }
type solved struct{ solutions, spawned int }

func queens(board, threshold, expected int) benchmark {
	return benchmark{expected, expected, func(root *actor.RootContext, finish func(int)) []*actor.PID {
		var workers []*actor.PID
		outstanding, solutions, turn := 1, 0, 0
		master := spawn(root, func(ctx actor.Context) {
			switch m := ctx.Message().(type) {
			case *place:
				ctx.Send(workers[turn%len(workers)], m)
				turn++
			case *solved:
				solutions += m.solutions
				outstanding += m.spawned - 1
				if outstanding == 0 {
					finish(solutions)
				}
			}
		})
		for w := 0; w < 20; w++ {
			workers = append(workers, spawn(root, func(ctx actor.Context) {
				m, ok := ctx.Message().(*place)
				if !ok {
					return
				}
				if len(m.rows) >= threshold {
					ctx.Send(master, &solved{solve(m.rows, board), 0})
					return
				}
				spawned := 0
				for column := 0; column < board; column++ {
					if safe(m.rows, column) {
						spawned++
						ctx.Send(master, &place{with(m.rows, column)})
					}
				}
				ctx.Send(master, &solved{0, spawned})
			}))
		}
		root.Send(master, &place{})
		return append(workers, master)
	}}
}

func with(rows []int, column int) []int {
	more := make([]int, len(rows)+1)
	copy(more, rows)
	more[len(rows)] = column
	return more
}

func safe(rows []int, column int) bool {
	for r, c := range rows {
		if d := c - column; d == 0 || d == len(rows)-r || -d == len(rows)-r {
			return false
		}
	}
	return true
}

func solve(rows []int, board int) int {
	if len(rows) == board {
		return 1
	}
	solutions := 0
	for column := 0; column < board; column++ {
		if safe(rows, column) {
			solutions += solve(with(rows, column), board)
		}
	}
	return solutions
}

// idle is bytes of heap and stacks per idle actor: named, each after one message.
func idle(root *actor.RootContext, n int) float64 {
	before := used()
	finished := make(chan struct{})
	end := latch(root, n, func() { close(finished) })
	props := actor.PropsFromFunc(func(ctx actor.Context) {
		if _, ok := ctx.Message().(*work); ok {
			ctx.Send(end, &done{})
		}
	})
	for i := 0; i < n; i++ {
		pid, err := root.SpawnNamed(props, "a"+strconv.Itoa(i))
		if err != nil {
			panic(err)
		}
		root.Send(pid, &work{i})
	}
	<-finished
	after := used()
	runtime.KeepAlive(root)
	return float64(after-before) / float64(n)
}

func used() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc + stats.StackInuse)
}
