//! What the program is compared with: the project's own documents.

mod documents;
