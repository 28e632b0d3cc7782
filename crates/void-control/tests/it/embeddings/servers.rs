//! An embeddings server on a socket, whose vectors say what a text is about by a few words that it knows.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, Once};
use std::thread;

use serde_json::{Value, json};
use void_control::embeddings::EmbeddingsConfig;
use void_embeddings::embedders::Embedder;
use void_embeddings::endpoints::{Endpoint, EndpointConfig, EndpointFormat};

/// Words of one row mean the same.
const MEANINGS: [&[&str]; 4] = [
    &["fence", "hedge", "zaun"],
    &["pump", "water", "leak"],
    &["bread", "oven", "flour"],
    &["backup", "copy", "snapshot"],
];

#[derive(Debug, Clone, PartialEq)]
pub enum Mood {
    Well,
    /// Takes the question and says nothing.
    Silent,
    /// Ends the connection before any answer.
    Down,
    /// Answers this to whatever contains that word.
    Refuses(u16, &'static str),
    /// Ends the connection once this many texts were answered.
    DownAfter(usize),
}

struct State {
    mood: Mood,
    dimensions: usize,
    /// What was asked for, all of it.
    texts: Vec<String>,
    answered: usize,
}

#[derive(Clone)]
pub struct Server {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Server {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State {
            mood: Mood::Well,
            dimensions: 16,
            texts: Vec::new(),
            answered: 0,
        }));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(stream), state) = (stream, Arc::clone(&shared)) else {
                    return;
                };
                // What the client does to the connection is its own business.
                thread::spawn(move || serve(stream, &state));
            }
        });
        Self { address, state }
    }

    pub fn be(&self, mood: Mood) {
        self.state.lock().unwrap().mood = mood;
    }

    pub fn have(&self, dimensions: usize) {
        self.state.lock().unwrap().dimensions = dimensions;
    }

    /// What it was asked for since the last time.
    pub fn texts(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().texts)
    }

    pub fn config(&self, model: &str) -> EmbeddingsConfig {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let endpoint = Endpoint::new(EndpointConfig {
            format: EndpointFormat::Ollama,
            base: format!("http://{}", self.address),
            key: None,
            model: model.to_owned(),
            dimensions: None,
        });
        EmbeddingsConfig::Ready(Arc::new(Embedder::Endpoint(endpoint.unwrap())))
    }
}

fn serve(stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = String::new();
    while reader.read_line(&mut head)? > 2 {}
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_it = name.eq_ignore_ascii_case("content-length");
        is_it.then(|| value.trim().parse().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let body: Value = serde_json::from_slice(&body).unwrap();
    let texts: Vec<String> = serde_json::from_value(body["input"].clone()).unwrap();
    let (mood, dimensions, answered) = {
        let mut state = state.lock().unwrap();
        state.texts.extend(texts.clone());
        (state.mood.clone(), state.dimensions, state.answered)
    };
    match mood {
        Mood::Silent => return reader.read_to_end(&mut Vec::new()).map(|_| ()),
        Mood::Down => return Ok(()),
        Mood::DownAfter(count) if answered >= count => return Ok(()),
        Mood::Refuses(status, word) if texts.iter().any(|text| text.contains(word)) => {
            return answer(stream, status, "{}");
        }
        Mood::Well | Mood::Refuses(..) | Mood::DownAfter(_) => {}
    }
    state.lock().unwrap().answered += texts.len();
    let vectors: Vec<Vec<f32>> = texts.iter().map(|text| vector(text, dimensions)).collect();
    answer(stream, 200, &json!({"embeddings": vectors}).to_string())
}

fn answer(mut stream: TcpStream, status: u16, body: &str) -> std::io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

/// A dimension for each meaning, and a little in another one for each other word, however often it is said.
fn vector(text: &str, dimensions: usize) -> Vec<f32> {
    let mut vector = vec![0.0; dimensions];
    vector[dimensions - 1] = 0.01;
    let text = text.to_lowercase();
    let words: BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    for word in words {
        match MEANINGS.iter().position(|same| same.contains(&word)) {
            Some(meaning) => vector[meaning] += 1.0,
            None => {
                let sum: usize = word.bytes().map(usize::from).sum();
                let others = dimensions - MEANINGS.len();
                vector[MEANINGS.len() + sum % others] += 0.05;
            }
        }
    }
    vector
}
