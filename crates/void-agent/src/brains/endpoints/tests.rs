use super::*;

#[test]
fn addresses_are_judged_without_repeating_them() {
    for (text, why) in [
        ("", InvalidBrain::Address),
        ("api.anthropic.com", InvalidBrain::Address),
        ("ftp://host", InvalidBrain::Address),
        ("file:///etc/passwd", InvalidBrain::Address),
        ("https://", InvalidBrain::Address),
        ("https://user:hunter2@host", InvalidBrain::Credentials),
        ("https://user@host", InvalidBrain::Credentials),
        ("https://host/?key=hunter2", InvalidBrain::Query),
        ("https://host/#x", InvalidBrain::Query),
    ] {
        assert_eq!(BaseUrl::parse(text), Err(why), "{text}");
        assert!(!why.to_string().contains("hunter2"));
    }
}

#[test]
fn a_path_follows_the_base_with_one_slash() {
    for base in ["http://host:8080/v1", "http://host:8080/v1/"] {
        let base = BaseUrl::parse(base).unwrap();
        let url = base.join("/chat/completions").unwrap();
        assert_eq!(url.as_str(), "http://host:8080/v1/chat/completions");
        assert_eq!(base.to_string(), "http://host:8080/v1");
    }
}

#[test]
fn ollama_host_is_read_as_ollama_reads_it() {
    for (text, url) in [
        ("127.0.0.1", "http://127.0.0.1:11434"),
        ("127.0.0.1:80", "http://127.0.0.1"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:9000", "http://127.0.0.1:9000"),
        ("[::]:9000", "http://127.0.0.1:9000"),
        ("[::1]", "http://[::1]:11434"),
        ("gpu.lan:1234", "http://gpu.lan:1234"),
        ("gpu.lan/ollama", "http://gpu.lan:11434/ollama"),
        ("https://ollama.example", "https://ollama.example"),
    ] {
        let base = BaseUrl::parse_ollama_host(text).unwrap();
        assert_eq!(base.to_string(), url, "{text}");
    }
}
