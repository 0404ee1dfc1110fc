//! The bot's side of the wire: one stream, all its matches on it, until Bye or until the referee is gone.

use std::collections::HashMap;
use std::env;
use std::net::IpAddr;
use std::panic;
use std::process::exit;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::mpsc::unbounded_channel;
use tokio::time::{sleep, timeout};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Status, Streaming};

use crate::bot::{Bot, Result};
use crate::playing::{Outbox, Playing};
use crate::v1::bot_message::Body as Said;
use crate::v1::referee_client::RefereeClient;
use crate::v1::referee_message::Body as Heard;
use crate::v1::{BotMessage, Hello, RefereeMessage};

const PROTOCOL: u32 = 1;
const RETRY: Duration = Duration::from_millis(50);
const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// Plays until the referee says Bye, then ends the process with exit code 0; with 1 and a sentence on stderr if
/// something is wrong.
pub fn run(bot: Bot) -> ! {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panicked| {
        report(panicked);
        exit(1);
    }));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime
        .map_err(Into::into)
        .and_then(|runtime| runtime.block_on(session(bot)))
    {
        Ok(()) => exit(0),
        Err(error) => fail(&error.to_string()),
    }
}

/// Prints what is wrong for the bot's author and ends the process with exit code 1.
pub fn fail(sentence: &str) -> ! {
    eprintln!("{sentence}");
    exit(1)
}

/// From dialling until Bye, or an error that says why the stream ended.
async fn session(bot: Bot) -> Result<()> {
    let address = required("CROSSTOWN_ADDRESS")?;
    let (outbox, sent) = unbounded_channel();
    outbox.send(BotMessage {
        body: Some(Said::Hello(hello(&bot, required("CROSSTOWN_TOKEN")?))),
    })?;
    let limit = seconds("CROSSTOWN_CONNECT_S", 10);
    let connecting = async {
        let channel = dial(&address).await?;
        let mut client = RefereeClient::new(channel).max_decoding_message_size(usize::MAX);
        let mut stream = client
            .play(UnboundedReceiverStream::new(sent))
            .await
            .map_err(ended)?
            .into_inner();
        let welcome = stream
            .message()
            .await
            .map_err(ended)?
            .ok_or_else(|| ended(Status::ok("")))?;
        Result::Ok((stream, welcome))
    };
    let Ok(connected) = timeout(limit, connecting).await else {
        let used = if address.starts_with("unix:") {
            "; it takes one process for each token, and no further connection after that"
        } else {
            ""
        };
        return Err(format!(
            "no answer from the referee at {address} within {} s{used}",
            limit.as_secs()
        )
        .into());
    };
    let (stream, _welcome) = connected?;
    serve(Arc::new(bot), stream, Arc::new(Mutex::new(outbox))).await
}

async fn serve(bot: Arc<Bot>, mut stream: Streaming<RefereeMessage>, outbox: Outbox) -> Result<()> {
    let mut matches: HashMap<String, Playing> = HashMap::new();
    while let Some(message) = stream.message().await.map_err(ended)? {
        let Some(body) = message.body else {
            continue; // of a later version
        };
        let id = match &body {
            Heard::MatchStart(start) => {
                let id = start.r#match.clone();
                if let Heard::MatchStart(start) = body {
                    matches.insert(id, Playing::start(&bot, start, &outbox));
                }
                continue;
            }
            Heard::Bye(_) => return Ok(()),
            Heard::Welcome(_) => continue,
            Heard::Decide(decide) => &decide.r#match,
            Heard::Update(update) => &update.r#match,
            Heard::Cancel(cancel) => &cancel.r#match,
            Heard::MatchEnd(end) => &end.r#match,
        };
        if matches!(body, Heard::MatchEnd(_)) {
            if let Some(playing) = matches.remove(id) {
                playing.deliver(body);
            }
        } else if let Some(playing) = matches.get(id) {
            playing.deliver(body);
        }
    }
    Err(ended(Status::ok("")))
}

/// Connects, waiting for the referee to listen.
async fn dial(address: &str) -> Result<Channel> {
    let local = address.strip_prefix("unix:");
    let ca = env::var("CROSSTOWN_TLS_CA")
        .ok()
        .filter(|path| local.is_none() && !path.is_empty());
    let uri = match (local, &ca) {
        (Some(path), _) => format!("unix://{}", path.trim_start_matches("//")),
        (None, Some(_)) => format!("https://{address}"),
        (None, None) => format!("http://{address}"),
    };
    let mut endpoint = Endpoint::from_shared(uri)
        .map_err(|error| format!("CROSSTOWN_ADDRESS is '{address}', expected unix:/path or host:port: {error}"))?;
    if local.is_none() && ca.is_none() && !endpoint.uri().host().is_some_and(on_this_machine) {
        return Err(format!(
            "the referee at {address} is not on this machine, and CROSSTOWN_TLS_CA is not set: give it the path of a \
             PEM file with the certificate of the referee or of who signed it"
        )
        .into());
    }
    if let Some(path) = ca {
        let pem = std::fs::read(&path).map_err(|error| {
            format!("CROSSTOWN_TLS_CA names {path}, expected the referee's certificate authority, a PEM file: {error}")
        })?;
        endpoint = endpoint.tls_config(ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem)))?;
    }
    // A unix socket tells at once that the other side is gone; a network only if asked.
    let every = seconds("CROSSTOWN_KEEPALIVE_S", if local.is_some() { 0 } else { 20 });
    if !every.is_zero() {
        endpoint = endpoint
            .http2_keep_alive_interval(every)
            .keep_alive_timeout(PING_TIMEOUT);
    }
    loop {
        match endpoint.connect().await {
            Ok(channel) => return Ok(channel),
            Err(_) => sleep(RETRY).await,
        }
    }
}

/// Where a plain connection may go: to another machine it would tell the token.
fn on_this_machine(host: &str) -> bool {
    let number = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || number.is_ok_and(|ip| ip.is_loopback())
}

fn required(name: &str) -> Result<String> {
    env::var(name).map_err(|_| {
        format!("{name} is not set: a bot is started by the referee, for instance by `crosstown run FILE`").into()
    })
}

fn seconds(name: &str, otherwise: u64) -> Duration {
    let set = env::var(name).ok().and_then(|text| text.parse().ok());
    Duration::from_secs(set.unwrap_or(otherwise))
}

#[allow(clippy::needless_pass_by_value)] // made for map_err
fn ended(status: Status) -> crate::Error {
    let said = if status.message().is_empty() {
        status.code().description()
    } else {
        status.message()
    };
    format!("the referee ended the stream: {said}").into()
}

fn hello(bot: &Bot, token: String) -> Hello {
    Hello {
        protocol: PROTOCOL,
        token,
        name: bot.name.clone(),
        version: bot.version.clone(),
        games: bot.games.clone(),
        max_parallel_matches: bot.parallel_matches,
        wants_updates: bot.wants_updates,
        omit_legal_actions: bot.omit_legal_actions,
        omit_observation: bot.omit_observation,
        ..Hello::default()
    }
}
