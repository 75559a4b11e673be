// Apache Pekko Typed: functional behaviors with default dispatchers, as its documentation writes them. Run by the
// benchmark runner: java -cp … bench.Bench <benchmark> <warm-up ms> <measure ms>. Prints operations per second of each
// repetition after the warm-up as JSON; exits with 3 for a benchmark it does not have.
package bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

public final class Bench {
  private static final java.time.Duration TIMEOUT = java.time.Duration.ofSeconds(5);

  /** What the guardian and each scene understand: a piece of work in their context. */
  interface Task {
    void in(ActorContext<Task> ctx);
  }

  interface Run {
    void in(ActorContext<Task> ctx, CompletableFuture<Object> done);
  }

  record Benchmark(long operations, Object expected, Run run) {}

  private static final Behavior<Task> STAGE =
      Behaviors.receive(
          (ctx, task) -> {
            task.in(ctx);
            return Behaviors.same();
          });

  private static final ActorSystem<Task> SYSTEM = ActorSystem.create(STAGE, "bench");

  public static void main(String[] args) {
    var name = args[0];
    if (name.equals("idle")) {
      System.out.println("[" + idle(200_000) + "]");
      System.exit(0);
    }
    var benchmark = benchmarks().get(name);
    if (benchmark == null) System.exit(3);
    var started = System.nanoTime();
    var warm = started + Long.parseLong(args[1]) * 1_000_000;
    do measure(benchmark); while (System.nanoTime() < warm);
    var end = System.nanoTime() + Long.parseLong(args[2]) * 1_000_000;
    List<Double> rates = new ArrayList<>();
    do rates.add(measure(benchmark)); while (System.nanoTime() < end);
    System.out.println(rates.stream().map(r -> String.format("%.1f", r)).collect(Collectors.joining(",", "[", "]")));
    System.exit(0);
  }

  private static double measure(Benchmark benchmark) {
    var started = System.nanoTime();
    var done = new CompletableFuture<Object>();
    var scene = new CompletableFuture<ActorRef<Task>>();
    SYSTEM.tell(
        ctx -> {
          ActorRef<Task> ref = ctx.spawnAnonymous(STAGE);
          scene.complete(ref);
          ref.tell(inner -> benchmark.run().in(inner, done));
        });
    var result = done.join();
    if (!result.equals(benchmark.expected())) throw new IllegalStateException("expected " + benchmark.expected() + ", got " + result);
    var rate = benchmark.operations() * 1e9 / (System.nanoTime() - started);
    SYSTEM.tell(ctx -> ctx.stop(scene.join()));
    return rate;
  }

  private static Map<String, Benchmark> benchmarks() {
    Map<String, Benchmark> all = new HashMap<>();
    all.put("ping-pong", ring(2, 1_000_000));
    all.put("thread ring", ring(100, 1_000_000));
    all.put("counting", counting(1_000_000));
    all.put("fork-join throughput", throughput(60, 10_000));
    all.put("fork-join create", create(20_000));
    all.put("big", big(120, 5_000));
    all.put("skynet", new Benchmark(111_111, 4_999_950_000L, (ctx, done) -> {
      ActorRef<Long> root = ctx.spawnAnonymous(sum(1, done::complete));
      ctx.spawnAnonymous(skynet(root, 0, 100_000));
    }));
    all.put("ask sequential", askSequential(10_000));
    all.put("ask concurrent", askConcurrent(200, 1_000));
    all.put("concurrent dictionary", dictionary(20, 10_000));
    all.put("logistic map", logistic(10, 25_000));
    all.put("N-queens", queens(12, 4, 14_200));
    return all;
  }

  record Ball(long left) {}

  private static Benchmark ring(int size, long hops) {
    return new Benchmark(hops, hops, (ctx, done) -> {
      List<ActorRef<Ball>> members = new ArrayList<>();
      for (int i = 0; i < size; i++) {
        final int next = (i + 1) % size;
        members.add(ctx.spawnAnonymous(Behaviors.receiveMessage(m -> {
          if (m.left() > 0) members.get(next).tell(new Ball(m.left() - 1));
          else done.complete(hops);
          return Behaviors.same();
        })));
      }
      members.get(0).tell(new Ball(hops));
    });
  }

  sealed interface Count {}
  record Add(int by) implements Count {}
  record Read() implements Count {}

  private static Benchmark counting(int n) {
    return new Benchmark(n, (long) n, (ctx, done) -> {
      ActorRef<Count> counter = ctx.spawnAnonymous(Behaviors.setup(c -> {
        var sum = new long[1];
        return Behaviors.receiveMessage(m -> {
          if (m instanceof Add add) sum[0] += add.by();
          else done.complete(sum[0]);
          return Behaviors.same();
        });
      }));
      ActorRef<String> producer = ctx.spawnAnonymous(Behaviors.receiveMessage(go -> {
        for (int i = 0; i < n; i++) counter.tell(new Add(1));
        counter.tell(new Read());
        return Behaviors.same();
      }));
      producer.tell("go");
    });
  }

  record Work(int n) {}
  record Done() {}

  /** Counts completions down, then calls back. */
  private static Behavior<Done> latch(int count, Runnable open) {
    return Behaviors.setup(c -> {
      var left = new int[] {count};
      return Behaviors.receiveMessage(m -> {
        if (--left[0] == 0) open.run();
        return Behaviors.same();
      });
    });
  }

  private static Benchmark throughput(int workers, int each) {
    return new Benchmark((long) workers * each, workers, (ctx, done) -> {
      ActorRef<Done> latch = ctx.spawnAnonymous(latch(workers, () -> done.complete(workers)));
      List<ActorRef<Work>> members = new ArrayList<>();
      for (int w = 0; w < workers; w++)
        members.add(ctx.spawnAnonymous(Behaviors.setup(c -> {
          var seen = new int[1];
          return Behaviors.receiveMessage(m -> {
            if (Math.sin(m.n()) < 2 && ++seen[0] == each) {
              latch.tell(new Done());
              return Behaviors.stopped();
            }
            return Behaviors.same();
          });
        })));
      for (int n = 0; n < each; n++) for (var member : members) member.tell(new Work(n));
    });
  }

  private static Benchmark create(int n) {
    return new Benchmark(n, n, (ctx, done) -> {
      ActorRef<Done> latch = ctx.spawnAnonymous(latch(n, () -> done.complete(n)));
      Behavior<Work> worker = Behaviors.receiveMessage(m -> {
        if (Math.sin(m.n()) < 2) latch.tell(new Done());
        return Behaviors.stopped();
      });
      for (int i = 0; i < n; i++) ctx.spawnAnonymous(worker).tell(new Work(i));
    });
  }

  sealed interface Big {}
  record Ping(ActorRef<Big> from) implements Big {}
  record Pong() implements Big {}

  private static Benchmark big(int size, int pings) {
    return new Benchmark((long) size * pings * 2, size, (ctx, done) -> {
      ActorRef<Done> latch = ctx.spawnAnonymous(latch(size, () -> done.complete(size)));
      List<ActorRef<Big>> members = new ArrayList<>();
      for (int i = 0; i < size; i++) {
        final int seed = i + 1;
        members.add(ctx.spawnAnonymous(Behaviors.setup(c -> {
          var random = new SplittableRandom(seed);
          var left = new int[] {pings};
          return Behaviors.receiveMessage(m -> {
            if (m instanceof Ping ping) ping.from().tell(new Pong());
            else if (left[0]-- > 0) members.get(random.nextInt(size)).tell(new Ping(c.getSelf()));
            else latch.tell(new Done());
            return Behaviors.same();
          });
        })));
      }
      for (var member : members) member.tell(new Pong());
    });
  }

  private static Behavior<Long> sum(int parts, java.util.function.Consumer<Long> done) {
    return Behaviors.setup(c -> {
      var left = new int[] {parts};
      var total = new long[1];
      return Behaviors.receiveMessage(part -> {
        total[0] += part;
        if (--left[0] > 0) return Behaviors.same();
        done.accept(total[0]);
        return Behaviors.stopped();
      });
    });
  }

  private static Behavior<Long> skynet(ActorRef<Long> parent, long from, long size) {
    return Behaviors.setup(c -> {
      if (size == 1) {
        parent.tell(from);
        return Behaviors.stopped();
      }
      for (int i = 0; i < 10; i++) c.spawnAnonymous(skynet(c.getSelf(), from + i * (size / 10), size / 10));
      return sum(10, parent::tell);
    });
  }

  record Echo(int value, ActorRef<Integer> replyTo) {}

  private static final Behavior<Echo> ECHO =
      Behaviors.receiveMessage(
          m -> {
            m.replyTo().tell(m.value());
            return Behaviors.same();
          });

  private static Benchmark askSequential(int n) {
    return new Benchmark(n, n, (ctx, done) -> {
      ActorRef<Echo> echo = ctx.spawnAnonymous(ECHO);
      ctx.spawnAnonymous(Behaviors.<Integer>setup(c -> {
        var got = new int[1];
        BiConsumer<Integer, ActorContext<Integer>> ask =
            (i, asker) -> asker.ask(Integer.class, echo, TIMEOUT, (ActorRef<Integer> replyTo) -> new Echo(1, replyTo), (reply, failure) -> failure == null ? reply : -1);
        ask.accept(0, c);
        return Behaviors.receiveMessage(reply -> {
          got[0] += reply;
          if (got[0] == n) done.complete(got[0]);
          else ask.accept(got[0], c);
          return Behaviors.same();
        });
      }));
    });
  }

  private static Benchmark askConcurrent(int rounds, int ways) {
    return new Benchmark((long) rounds * ways, rounds * ways, (ctx, done) -> {
      ActorRef<Echo> echo = ctx.spawnAnonymous(ECHO);
      askRound(echo, ctx.getSystem(), rounds, ways, 0, done);
    });
  }

  private static void askRound(ActorRef<Echo> echo, ActorSystem<Void> system, int left, int ways, int got, CompletableFuture<Object> done) {
    if (left == 0) {
      done.complete(got);
      return;
    }
    List<CompletableFuture<Integer>> answers = new ArrayList<>();
    for (int w = 0; w < ways; w++)
      answers.add(AskPattern.ask(echo, (ActorRef<Integer> replyTo) -> new Echo(1, replyTo), TIMEOUT, system.scheduler()).toCompletableFuture());
    CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)).thenRunAsync(() -> {
      int sum = got;
      for (var answer : answers) sum += answer.join();
      askRound(echo, system, left - 1, ways, sum, done);
    });
  }

  sealed interface Request {}
  record Put(int key, int value, ActorRef<Integer> from) implements Request {}
  record Get(int key, ActorRef<Integer> from) implements Request {}

  private static Benchmark dictionary(int workers, int requests) {
    return new Benchmark((long) workers * requests, workers, (ctx, done) -> {
      ActorRef<Done> latch = ctx.spawnAnonymous(latch(workers, () -> done.complete(workers)));
      ActorRef<Request> dictionary = ctx.spawnAnonymous(Behaviors.setup(c -> {
        Map<Integer, Integer> table = new HashMap<>();
        return Behaviors.receiveMessage(m -> {
          if (m instanceof Put put) {
            table.put(put.key(), put.value());
            put.from().tell(put.value());
          } else if (m instanceof Get get) get.from().tell(table.getOrDefault(get.key(), 0));
          return Behaviors.same();
        });
      }));
      for (int w = 0; w < workers; w++) {
        final int seed = w + 1;
        ActorRef<Integer> worker = ctx.spawnAnonymous(Behaviors.setup(c -> {
          var random = new SplittableRandom(seed);
          var left = new int[] {requests};
          return Behaviors.receiveMessage(value -> {
            if (left[0]-- == 0) {
              latch.tell(new Done());
              return Behaviors.stopped();
            }
            int key = random.nextInt(512);
            dictionary.tell(random.nextInt(100) < 10 ? new Put(key, left[0], c.getSelf()) : new Get(key, c.getSelf()));
            return Behaviors.same();
          });
        }));
        worker.tell(0);
      }
    });
  }

  record Compute(double term, ActorRef<Double> from) {}

  private static Benchmark logistic(int series, int terms) {
    return new Benchmark((long) series * terms, series, (ctx, done) -> {
      ActorRef<Done> latch = ctx.spawnAnonymous(latch(series, () -> done.complete(series)));
      for (int s = 0; s < series; s++) {
        final double rate = 3.46 + s * 0.0025;
        ActorRef<Compute> computer = ctx.spawnAnonymous(Behaviors.receiveMessage(m -> {
          m.from().tell(rate * m.term() * (1 - m.term()));
          return Behaviors.same();
        }));
        ActorRef<Double> worker = ctx.spawnAnonymous(Behaviors.setup(c -> {
          var left = new int[] {terms};
          return Behaviors.receiveMessage(term -> {
            if (left[0]-- == 0) {
              latch.tell(new Done());
              return Behaviors.stopped();
            }
            computer.tell(new Compute(term, c.getSelf()));
            return Behaviors.same();
          });
        }));
        worker.tell(s * 0.0025);
      }
    });
  }

  sealed interface Queens {}
  record Place(int[] rows) implements Queens {}
  record Solved(int solutions, int spawned) implements Queens {}

  private static Benchmark queens(int board, int threshold, int expected) {
    return new Benchmark(expected, expected, (ctx, done) ->
        ctx.spawnAnonymous(Behaviors.<Queens>setup(master -> {
          List<ActorRef<Place>> workers = new ArrayList<>();
          for (int w = 0; w < 20; w++)
            workers.add(master.spawnAnonymous(Behaviors.receiveMessage(m -> {
              if (m.rows().length >= threshold) {
                master.getSelf().tell(new Solved(solve(m.rows(), board), 0));
                return Behaviors.same();
              }
              int spawned = 0;
              for (int column = 0; column < board; column++)
                if (safe(m.rows(), column)) {
                  spawned++;
                  master.getSelf().tell(new Place(with(m.rows(), column)));
                }
              master.getSelf().tell(new Solved(0, spawned));
              return Behaviors.same();
            })));
          var state = new int[] {1, 0, 0};
          master.getSelf().tell(new Place(new int[0]));
          return Behaviors.receiveMessage(m -> {
            if (m instanceof Place place) workers.get(state[2]++ % workers.size()).tell(place);
            else if (m instanceof Solved solved) {
              state[1] += solved.solutions();
              state[0] += solved.spawned() - 1;
              if (state[0] == 0) done.complete(state[1]);
            }
            return Behaviors.same();
          });
        })));
  }

  private static int[] with(int[] rows, int column) {
    var more = Arrays.copyOf(rows, rows.length + 1);
    more[rows.length] = column;
    return more;
  }

  private static boolean safe(int[] rows, int column) {
    for (int r = 0; r < rows.length; r++) if (rows[r] == column || Math.abs(rows[r] - column) == rows.length - r) return false;
    return true;
  }

  private static int solve(int[] rows, int board) {
    if (rows.length == board) return 1;
    int solutions = 0;
    for (int column = 0; column < board; column++) if (safe(rows, column)) solutions += solve(with(rows, column), board);
    return solutions;
  }

  /** Bytes of heap per idle actor: named, each after one message. */
  private static double idle(int n) {
    var before = used();
    var done = new CompletableFuture<Object>();
    SYSTEM.tell(ctx -> {
      ActorRef<Done> latch = ctx.spawnAnonymous(latch(n, () -> done.complete(n)));
      Behavior<Work> greeter = Behaviors.receiveMessage(m -> {
        latch.tell(new Done());
        return Behaviors.same();
      });
      for (int i = 0; i < n; i++) ctx.spawn(greeter, "a" + i).tell(new Work(i));
    });
    done.join();
    return (double) (used() - before) / n;
  }

  private static long used() {
    for (int i = 0; i < 3; i++) System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }
}
