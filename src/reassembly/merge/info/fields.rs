//! INFO's text, taken apart and written again: sections, fields, and the values that the shards gave each.

use super::own::Own;
use super::rules::{self, Rule};
use std::collections::HashMap;

/// A section and its fields in the order in which they were first seen.
pub(super) struct Section<'a> {
    pub name: &'a str,
    pub fields: Vec<Field<'a>>,
    places: HashMap<&'a str, usize>,
}

/// A field, and its value on each shard that has it.
pub(super) struct Field<'a> {
    pub name: &'a str,
    pub values: Vec<&'a str>,
}

/// All sections of all shards.
pub(super) fn collect(texts: &[String]) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for text in texts {
        let mut at = None;
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("# ") {
                let known = sections.iter().position(|section| section.name == name);
                at = Some(known.unwrap_or_else(|| {
                    sections.push(Section::empty(name));
                    sections.len() - 1
                }));
            } else if let (Some(at), Some((name, value))) = (at, line.split_once(':')) {
                sections[at].add(name, value);
            }
        }
    }
    sections
}

impl<'a> Section<'a> {
    pub(super) fn empty(name: &'a str) -> Section<'a> {
        Section { name, fields: Vec::new(), places: HashMap::new() }
    }

    fn add(&mut self, name: &'a str, value: &'a str) {
        let place = *self.places.entry(name).or_insert_with(|| {
            self.fields.push(Field { name, values: Vec::new() });
            self.fields.len() - 1
        });
        self.fields[place].values.push(value);
    }

    /// The sum of a field over the shards, where it is there and whole numbers.
    pub(super) fn sum(&self, name: &str) -> Option<i64> {
        let field = &self.fields[*self.places.get(name)?];
        rules::sum(&field.values)
    }

    /// The section as one server would write it.
    pub(super) fn write(&self, own: &Own) -> String {
        let mut ours = own.fields(self.name);
        let mut text = format!("# {}\r\n", self.name);
        let mut line = |name: &str, value: &str| {
            text.extend([name, ":", value, "\r\n"]);
        };
        for field in &self.fields {
            match ours.iter().position(|(name, _)| *name == field.name) {
                Some(at) => line(field.name, &ours.remove(at).1),
                None => {
                    if let Some(value) = self.merged(field) {
                        line(field.name, &value);
                    }
                }
            }
        }
        for (name, value) in ours {
            line(name, &value);
        }
        for (name, value) in own.fallbacks(self.name) {
            if !self.places.contains_key(name) {
                line(name, value);
            }
        }
        text
    }

    fn merged(&self, field: &Field<'_>) -> Option<String> {
        match rules::of(self.name, field.name) {
            Rule::Drop => None,
            rule => Some(rules::apply(rule, self, field)),
        }
    }
}
