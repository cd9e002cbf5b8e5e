//! The live page: what each shard carries and what was saved, for people.
//!
//! Three files in the binary, so that it works without a network and without a build step; the script asks
//! /api/shards every two seconds. It shows names and numbers as text only, so nothing in them can become markup.

use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

pub async fn html() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/html; charset=utf-8")], include_str!("page.html"))
}

pub async fn css() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("page.css"))
}

pub async fn js() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8")], include_str!("page.js"))
}
