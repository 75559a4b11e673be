// One node of a Pekko cluster with sharded entities that say on which port they are, as Pekko comes: the default failure detector and the default
// split brain resolver. Arguments: its port, the port of the first node, how many ids it asks for ever (0: none). Says "up", and for each answer
// from another node than before "id port".
package bench;

import com.typesafe.config.ConfigFactory;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.cluster.MemberStatus;
import org.apache.pekko.cluster.sharding.typed.javadsl.ClusterSharding;
import org.apache.pekko.cluster.sharding.typed.javadsl.Entity;
import org.apache.pekko.cluster.sharding.typed.javadsl.EntityTypeKey;
import org.apache.pekko.cluster.typed.Cluster;

public final class Shards {
  public static final class Where implements java.io.Serializable {
    public final ActorRef<Integer> replyTo;

    public Where(ActorRef<Integer> replyTo) {
      this.replyTo = replyTo;
    }
  }

  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(args[0]);
    int ids = Integer.parseInt(args[2]);
    var config =
        ConfigFactory.parseString(
            "pekko.actor.provider=cluster\npekko.actor.allow-java-serialization=on\npekko.actor.warn-about-java-serializer-usage=off\n"
                + "pekko.remote.artery.canonical.hostname=127.0.0.1\npekko.remote.artery.canonical.port=" + port + "\n"
                + "pekko.cluster.seed-nodes=[\"pekko://shop@127.0.0.1:" + args[1] + "\"]\n"
                + "pekko.cluster.downing-provider-class=\"org.apache.pekko.cluster.sbr.SplitBrainResolverProvider\"\npekko.loglevel=OFF\npekko.stdout-loglevel=OFF\n")
            .withFallback(ConfigFactory.load());
    var system = ActorSystem.create(Behaviors.<Void>empty(), "shop", config);
    var sharding = ClusterSharding.get(system);
    var key = EntityTypeKey.create(Where.class, "place");
    sharding.init(
        Entity.of(
            key,
            ctx ->
                Behaviors.receiveMessage(
                    m -> {
                      m.replyTo.tell(port);
                      return Behaviors.same();
                    })));
    while (Cluster.get(system).selfMember().status() != MemberStatus.up()) Thread.sleep(50);
    System.out.println("up");
    var seen = new ConcurrentHashMap<String, Integer>();
    for (int i = 0; i < ids; i++) {
      var id = "id-" + i;
      new Thread(
              () -> {
                for (; ; ) {
                  try {
                    var at = sharding.entityRefFor(key, id).<Integer>ask(Where::new, Duration.ofSeconds(1)).toCompletableFuture().get();
                    if (!at.equals(seen.put(id, at))) System.out.println(id + " " + at);
                    Thread.sleep(20);
                  } catch (Exception none) {
                    // Nobody answers: asked again.
                  }
                }
              })
          .start();
    }
  }
}
