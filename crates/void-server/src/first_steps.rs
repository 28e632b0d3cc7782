//! What an empty Void says to its owner: which files are read, an example of each, and the commands that check
//! them and take them over. The binary knows all of it from its settings; the page only shows it.

#[derive(Debug, Clone, Default)]
pub struct FirstSteps {
    /// The catalogue that is read.
    pub actions_file: String,
    pub actions_example: String,
    /// The services file that is read.
    pub services_file: String,
    pub services_example: String,
    /// To be typed after a file was written, one after the other.
    pub commands: Vec<String>,
    /// The program, with what a command in another terminal needs to find this server.
    pub called: String,
    /// Where the owner's token is, unless the settings say otherwise.
    pub owner_token_file: Option<String>,
}
