use void_embeddings::embedders::EmbeddingSource;

use super::*;

fn read(
    toml: Option<&str>,
    variables: &[(&str, &str)],
) -> Result<EmbeddingsSettings, CommandError> {
    let folder = tempfile::tempdir().unwrap();
    let settings = load(folder.path(), toml, variables, Flags::default());
    settings.map(|settings| settings.embeddings)
}

#[test]
fn vectors_are_off_until_a_source_is_named() {
    assert_eq!(read(None, &[]).unwrap().source, EmbeddingSource::Off);
    let file = "embeddings = \"ollama:nomic-embed-text\"\nembeddings_url = \"http://box:11434\"\nembeddings_key = \"env:K\"\n";
    let settings = read(Some(file), &[]).unwrap();
    let model = EmbeddingSource::Ollama("nomic-embed-text".to_owned());
    assert_eq!(settings.source, model);
    assert_eq!(settings.url.value.as_deref(), Some("http://box:11434"));
    assert_eq!(
        settings.key.value,
        Some(Reference::Environment("K".to_owned()))
    );
    let settings = read(Some(file), &[("VOID_EMBEDDINGS", "local:/srv/minilm")]).unwrap();
    let folder = EmbeddingSource::Local("/srv/minilm".into());
    assert_eq!(settings.source, folder, "the variable wins");
    for (file, problem) in [
        ("embeddings = \"on\"", "off, local:FOLDER, ollama:MODEL"),
        ("embeddings = \"ollama:\"", "off, local:FOLDER"),
        ("embeddings = true", "embeddings"),
        (
            "embeddings_key = \"sk-secret\"",
            "must say where the secret is",
        ),
    ] {
        let Err(error) = read(Some(file), &[]) else {
            panic!("{file}");
        };
        let said = error.message;
        assert!(
            said.contains(problem) && !said.contains("sk-secret"),
            "{said}"
        );
    }
}
