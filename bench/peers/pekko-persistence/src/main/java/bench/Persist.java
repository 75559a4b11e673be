// Commands per second of event-sourced actors on Pekko's LevelDB journal, fsync on, or on its JDBC journal: each command persists one event
// and answers when it is stored. Arguments: folder or jdbc:postgresql://…, actors, window of each, seconds of warming up, seconds. Prints
// one line of JSON. In PostgreSQL it makes a database of its own.
package bench;

import com.typesafe.config.ConfigFactory;
import java.nio.charset.StandardCharsets;
import java.sql.DriverManager;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.persistence.typed.PersistenceId;
import org.apache.pekko.persistence.typed.javadsl.CommandHandler;
import org.apache.pekko.persistence.typed.javadsl.EventHandler;
import org.apache.pekko.persistence.typed.javadsl.EventSourcedBehavior;

public final class Persist {
  record Add(long at, ActorRef<Long> replyTo) {}

  static final class Counter extends EventSourcedBehavior<Add, String, Integer> {
    Counter(String id) {
      super(PersistenceId.ofUniqueId(id));
    }

    @Override
    public Integer emptyState() {
      return 0;
    }

    @Override
    public CommandHandler<Add, String, Integer> commandHandler() {
      return newCommandHandlerBuilder()
          .forAnyState()
          .onCommand(Add.class, (state, m) -> Effect().persist("{\"by\":1}").thenRun(after -> m.replyTo().tell(m.at())))
          .build();
    }

    @Override
    public EventHandler<Integer, String> eventHandler() {
      return newEventHandlerBuilder().forAnyState().onAnyEvent((state, event) -> state + 1);
    }
  }

  static final AtomicLong done = new AtomicLong();
  static volatile boolean measuring;
  static final long[] late = new long[2_000_000];
  static final AtomicLong lates = new AtomicLong();

  /** Keeps a window of commands open to one counter. */
  static Behavior<Long> asker(ActorRef<Add> counter, int window) {
    return Behaviors.setup(
        ctx -> {
          for (int i = 0; i < window; i++) counter.tell(new Add(System.nanoTime(), ctx.getSelf()));
          return Behaviors.receive(Long.class)
              .onMessage(
                  Long.class,
                  at -> {
                    done.incrementAndGet();
                    if (measuring) {
                      int place = (int) lates.getAndIncrement();
                      if (place < late.length) late[place] = System.nanoTime() - at;
                    }
                    counter.tell(new Add(System.nanoTime(), ctx.getSelf()));
                    return Behaviors.same();
                  })
              .build();
        });
  }

  static Map<String, Object> leveldb(String folder) {
    return Map.of(
        "pekko.persistence.journal.plugin", "pekko.persistence.journal.leveldb",
        "pekko.persistence.journal.leveldb.dir", folder,
        "pekko.persistence.journal.leveldb.fsync", "on",
        "pekko.persistence.journal.leveldb.native", "on");
  }

  /** A new database with the tables that the plugin brings along, and how it is reached. */
  static Map<String, Object> jdbc(String server) throws Exception {
    String name = "pekko_" + ProcessHandle.current().pid();
    try (var admin = DriverManager.getConnection(server);
        var statement = admin.createStatement()) {
      statement.execute("create database " + name);
    }
    String url = server.replaceFirst("/[^/?]*\\?", "/" + name + "?");
    try (var sql = Persist.class.getResourceAsStream("/schema/postgres/postgres-create-schema.sql");
        var own = DriverManager.getConnection(url);
        var statement = own.createStatement()) {
      for (String part : new String(sql.readAllBytes(), StandardCharsets.UTF_8).split(";")) if (!part.isBlank()) statement.execute(part);
    }
    return Map.of(
        "pekko.persistence.journal.plugin", "jdbc-journal",
        "jdbc-journal.slick.profile", "slick.jdbc.PostgresProfile$",
        "jdbc-journal.slick.db.url", url,
        "jdbc-journal.slick.db.driver", "org.postgresql.Driver",
        "jdbc-journal.slick.db.numThreads", 20,
        "jdbc-journal.slick.db.maxConnections", 20,
        "jdbc-journal.slick.db.minConnections", 1);
  }

  public static void main(String[] args) throws Exception {
    int actors = Integer.parseInt(args[1]);
    int window = Integer.parseInt(args[2]);
    var settings = new HashMap<String, Object>();
    settings.put("pekko.persistence.typed.stash-capacity", 100000);
    settings.put("pekko.loglevel", "ERROR");
    settings.put("pekko.coordinated-shutdown.exit-jvm", "off");
    settings.putAll(args[0].startsWith("jdbc:") ? jdbc(args[0]) : leveldb(args[0]));
    var config = ConfigFactory.parseMap(settings).withFallback(ConfigFactory.load());
    var system =
        ActorSystem.create(
            Behaviors.<Void>setup(
                ctx -> {
                  for (int i = 0; i < actors; i++) {
                    ActorRef<Add> counter = ctx.spawn(new Counter("counter-" + i), "counter-" + i);
                    ctx.spawn(asker(counter, window), "asker-" + i);
                  }
                  return Behaviors.empty();
                }),
            "bench",
            config);
    for (int waited = 0; done.get() == 0 && waited < 60_000; waited += 10) Thread.sleep(10);
    Thread.sleep((long) (Double.parseDouble(args[3]) * 1000));
    long before = done.get();
    long begun = System.nanoTime();
    measuring = true;
    Thread.sleep((long) (Double.parseDouble(args[4]) * 1000));
    long count = done.get() - before;
    double seconds = (System.nanoTime() - begun) / 1e9;
    int n = (int) Math.min(lates.get(), late.length);
    long[] sorted = Arrays.copyOf(late, n);
    Arrays.sort(sorted);
    System.out.printf("{\"rate\":%.1f,\"p50\":%.3f,\"p99\":%.3f}%n", count / seconds, n == 0 ? 0 : sorted[n / 2] / 1e6, n == 0 ? 0 : sorted[n * 99 / 100] / 1e6);
    Runtime.getRuntime().halt(0);
  }
}
