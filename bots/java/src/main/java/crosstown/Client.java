package crosstown;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import crosstown.v1.RefereeOuterClass.BotMessage;
import crosstown.v1.RefereeOuterClass.Hello;
import crosstown.v1.RefereeOuterClass.RefereeMessage;
import io.grpc.CallOptions;
import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.TlsChannelCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.io.File;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.Pattern;

/**
 * The bot's side of the wire: one stream, all its matches on it, until Bye or until the referee is
 * gone.
 */
public final class Client implements StreamObserver<RefereeMessage> {
  private static final int PROTOCOL = 1;
  private static final int RETRY_MS = 200;
  private static final String UNIX = "unix:";

  /** Where a plain connection may go: to another machine it would tell the token. */
  private static final Pattern ON_THIS_MACHINE =
      Pattern.compile("(localhost|\\[::1]|127(\\.\\d{1,3}){3}):\\d+");

  /**
   * Warns of each unix socket that it cannot keep a network connection alive. Loggers are held
   * weakly.
   */
  private static final Logger NETTY = Logger.getLogger("io.grpc.netty.shaded.io.netty.bootstrap");

  /** The one call there is: so short that no generator for services is needed. */
  private static final MethodDescriptor<BotMessage, RefereeMessage> PLAY =
      MethodDescriptor.<BotMessage, RefereeMessage>newBuilder()
          .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
          .setFullMethodName("crosstown.v1.Referee/Play")
          .setRequestMarshaller(ProtoUtils.marshaller(BotMessage.getDefaultInstance()))
          .setResponseMarshaller(ProtoUtils.marshaller(RefereeMessage.getDefaultInstance()))
          .build();

  private final Bot bot;
  private final Map<String, Playing> matches = new ConcurrentHashMap<>();
  private final CountDownLatch answered = new CountDownLatch(1);
  private StreamObserver<BotMessage> stream;

  private Client(Bot bot) {
    this.bot = bot;
  }

  /**
   * Plays until the referee says Bye, then ends the process with exit code 0; with 1 and a sentence
   * on stderr if something is wrong.
   */
  public static void run(Bot bot) throws InterruptedException {
    String address = required("CROSSTOWN_ADDRESS");
    String token = required("CROSSTOWN_TOKEN");
    Client client = new Client(bot);
    ManagedChannel channel = dial(address);
    client.open(channel, token);
    int limitS = seconds("CROSSTOWN_CONNECT_S", 10);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(limitS);
    while (!client.answered.await(RETRY_MS, TimeUnit.MILLISECONDS)) {
      if (System.nanoTime() > deadline) {
        String used =
            address.startsWith(UNIX)
                ? "; it takes one process for each token, and no further connection after that"
                : "";
        fail("no answer from the referee at " + address + " within " + limitS + " s" + used);
      }
      channel.resetConnectBackoff(); // the referee may just have begun to listen
    }
    new CountDownLatch(1).await(); // the other threads end the process
  }

  /** Prints what is wrong for the bot's author and ends the process with exit code 1. */
  public static void fail(String sentence) {
    System.err.println(sentence);
    end(1);
  }

  /** The bot's own text option, of bot.toml or of the tournament, or {@code otherwise}. */
  public static String option(String name, String otherwise) {
    String json = System.getenv("CROSSTOWN_OPTIONS");
    JsonElement found =
        json == null || json.isEmpty()
            ? null
            : JsonParser.parseString(json).getAsJsonObject().get(name);
    return found == null ? otherwise : found.getAsString();
  }

  /** Ends the process at once: players may still be thinking on their threads. */
  static void end(int code) {
    System.out.flush();
    System.err.flush();
    Runtime.getRuntime().halt(code);
  }

  private synchronized void open(ManagedChannel channel, String token) {
    CallOptions options = CallOptions.DEFAULT.withWaitForReady();
    stream = ClientCalls.asyncBidiStreamingCall(channel.newCall(PLAY, options), this);
    send(BotMessage.newBuilder().setHello(hello(token)).build(), () -> false);
  }

  /** Sends a message, unless nobody waits for it any more when its turn has come. */
  private synchronized void send(BotMessage message, BooleanSupplier isLate) {
    if (!isLate.getAsBoolean()) {
      stream.onNext(message);
    }
  }

  @Override
  public void onNext(RefereeMessage message) {
    answered.countDown();
    switch (message.getBodyCase()) {
      case MATCH_START ->
          matches.put(
              message.getMatchStart().getMatch(),
              new Playing(bot, message.getMatchStart(), this::send));
      case DECIDE -> deliver(matches.get(message.getDecide().getMatch()), message);
      case UPDATE -> deliver(matches.get(message.getUpdate().getMatch()), message);
      case CANCEL -> deliver(matches.get(message.getCancel().getMatch()), message);
      case MATCH_END -> deliver(matches.remove(message.getMatchEnd().getMatch()), message);
      case BYE -> {
        synchronized (this) {
          stream.onCompleted();
        }
        end(0);
      }
      default -> {} // Welcome, or a message of a later version
    }
  }

  private static void deliver(Playing playing, RefereeMessage message) {
    if (playing != null) {
      playing.deliver(message);
    }
  }

  @Override
  public void onError(Throwable problem) {
    Status status = Status.fromThrowable(problem);
    String said = status.getDescription();
    fail("the referee ended the stream: " + (said == null ? status.getCode() : said));
  }

  @Override
  public void onCompleted() {
    fail("the referee ended the stream");
  }

  private Hello hello(String token) {
    return Hello.newBuilder()
        .setProtocol(PROTOCOL)
        .setToken(token)
        .setName(bot.name())
        .setVersion(bot.version())
        .addAllGames(bot.games())
        .setMaxParallelMatches(bot.parallelMatches())
        .setWantsUpdates(bot.wantsUpdates())
        .setOmitObservation(!bot.looks())
        .setOmitLegalActions(!bot.looks())
        .build();
  }

  private static ManagedChannel dial(String address) {
    NETTY.setLevel(Level.SEVERE);
    boolean local = address.startsWith(UNIX);
    NettyChannelBuilder builder;
    if (local) {
      String path = address.substring(UNIX.length()).replaceFirst("^//", "");
      builder =
          NettyChannelBuilder.forAddress(
                  new DomainSocketAddress(path), InsecureChannelCredentials.create())
              .channelType(EpollDomainSocketChannel.class, DomainSocketAddress.class);
    } else {
      builder =
          NettyChannelBuilder.forTarget(address, credentials(address))
              .channelType(EpollSocketChannel.class);
    }
    // A unix socket tells at once that the other side is gone; a network only if asked.
    int pauseS = seconds("CROSSTOWN_KEEPALIVE_S", local ? 0 : 20);
    if (pauseS > 0) {
      builder.keepAliveTime(pauseS, TimeUnit.SECONDS).keepAliveTimeout(20, TimeUnit.SECONDS);
    }
    return builder
        .eventLoopGroup(new EpollEventLoopGroup(1))
        .directExecutor() // callbacks only hand messages over
        .maxInboundMessageSize(Integer.MAX_VALUE)
        .build();
  }

  private static ChannelCredentials credentials(String address) {
    String path = System.getenv("CROSSTOWN_TLS_CA");
    if (path == null || path.isEmpty()) {
      if (!ON_THIS_MACHINE.matcher(address).matches()) {
        fail(
            "the referee at "
                + address
                + " is not on this machine, and CROSSTOWN_TLS_CA is not set: give it the path of a"
                + " PEM file with the certificate of the referee or of who signed it");
      }
      return InsecureChannelCredentials.create();
    }
    try {
      return TlsChannelCredentials.newBuilder().trustManager(new File(path)).build();
    } catch (IOException problem) {
      fail(
          "CROSSTOWN_TLS_CA names "
              + path
              + ", expected the referee's certificate authority, a PEM file: "
              + problem);
      throw new IllegalStateException(problem);
    }
  }

  private static String required(String name) {
    String value = System.getenv(name);
    if (value == null || value.isEmpty()) {
      fail(
          name
              + " is not set: a bot is started by the referee, for instance by `crosstown run"
              + " FILE`");
    }
    return value;
  }

  private static int seconds(String name, int otherwise) {
    String value = System.getenv(name);
    return value == null || !value.matches("\\d{1,9}") ? otherwise : Integer.parseInt(value);
  }
}
