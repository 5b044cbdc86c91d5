//! What is known of MCP clients and servers: launch rules, client definitions, configuration
//! formats. Pure: works on bytes and on the text of `assets/`, reads no file itself.

mod clients;
mod config;
mod entry;
mod expand;
mod fit;
mod invocation;
mod judge;
mod leads;
mod leaf;
mod load;
mod matching;
mod names;
mod rules;
mod shape;
pub mod verdict;
mod words;

use std::collections::{HashMap, HashSet};

pub use verdict::{
    ArgvConfig, CatalogError, ClientCall, ClientMatch, ConfigFile, EntryMatch, MatchedAs, NearMiss, Seen,
    SocketMeaning, Verdict,
};

use load::{ClientsFile, RulesFile, Source, UserFile};
use rules::Rule;
use shape::Shape;

/// Launch rules, client definitions and credential leads, validated.
#[derive(Debug)]
pub struct Catalog {
    shapes: Vec<Shape>,
    shapes_by_program: HashMap<String, Vec<usize>>,
    shape_prefixes: Vec<(String, usize)>,
    stop: HashSet<String>,
    names: names::Names,
    words: WordLists,
    rules: rules::Rules,
    clients: clients::Clients,
    leads: leads::Leads,
}

#[derive(Debug)]
struct WordLists {
    commands: HashSet<String>,
    serving: HashSet<String>,
    flags: HashSet<String>,
}

impl Catalog {
    /// Reads the built-in rules, clients and leads.
    pub fn builtin() -> Result<Self, CatalogError> {
        let source = Source {
            file: "assets/rules.toml",
            text: include_str!("../../assets/rules.toml"),
        };
        let file: RulesFile = source.parse()?;
        let mut shapes = Vec::new();
        for spec in file.shapes {
            let span = spec.span();
            shapes.push(Shape::compile(spec.into_inner(), &file.options, source, &span)?);
        }
        let span = file.names.span();
        let names = names::Names::compile(file.names.get_ref(), source, &span)?;
        let mut rules = rules::Rules::default();
        rules.add(compile(file.rules, source)?, false);
        let leads = Source {
            file: "assets/leads.toml",
            text: include_str!("../../assets/leads.toml"),
        };
        let mut catalog = Self {
            shapes_by_program: HashMap::new(),
            shape_prefixes: Vec::new(),
            shapes,
            stop: file.stop.programs.into_iter().collect(),
            names,
            words: WordLists {
                commands: file.words.commands.into_iter().collect(),
                serving: file.words.serving.into_iter().collect(),
                flags: file.words.flags.into_iter().collect(),
            },
            rules,
            clients: clients::Clients::default(),
            leads: leads::Leads::compile(leads)?,
        };
        catalog.index_shapes();
        let source = Source {
            file: "assets/clients.toml",
            text: include_str!("../../assets/clients.toml"),
        };
        let file: ClientsFile = source.parse()?;
        catalog.clients.add(file.clients, source)?;
        Ok(catalog)
    }

    /// Adds the `[[rules]]` and `[[clients]]` of the user's configuration; its rules are asked
    /// first. Other keys are not looked at.
    pub fn extended(mut self, file: &str, text: &str) -> Result<Self, CatalogError> {
        let source = Source { file, text };
        let user: UserFile = source.parse()?;
        let mut seen = HashSet::new();
        for rule in &user.rules {
            if !seen.insert(rule.get_ref().id.as_str()) {
                return Err(source.error(&rule.span(), "id", "two rules have this id"));
            }
        }
        self.rules.add(compile(user.rules, source)?, true);
        self.clients.add(user.clients, source)?;
        Ok(self)
    }

    fn index_shapes(&mut self) {
        for (index, shape) in self.shapes.iter().enumerate() {
            for program in &shape.programs {
                self.shapes_by_program
                    .entry(program.clone())
                    .or_default()
                    .push(index);
            }
            self.shape_prefixes
                .extend(shape.prefixes.iter().map(|prefix| (prefix.clone(), index)));
        }
    }

    /// Shapes of a program, in the order of the file.
    fn shapes_of<'c>(&'c self, program: &str) -> impl Iterator<Item = &'c Shape> + use<'c> {
        let exact = self.shapes_by_program.get(program).map_or(&[][..], Vec::as_slice);
        let prefixed = self
            .shape_prefixes
            .iter()
            .find(|(prefix, _)| program.starts_with(prefix.as_str()));
        let prefixed = prefixed.map(|(_, index)| *index);
        exact
            .iter()
            .copied()
            .chain(prefixed)
            .filter_map(|index| self.shapes.get(index))
    }

    fn stops(&self, program: &str) -> bool {
        self.stop.contains(program)
    }

    /// Whether a program has a shape, a rule, a client or is one whose arguments are data: a
    /// script of such a name is that program.
    fn is_tool(&self, name: &str) -> bool {
        self.stops(name)
            || self.shapes_by_program.contains_key(name)
            || self.rules.knows(name)
            || self.clients.is_client_script(name)
    }

    /// Returns the tool that a script is: `npx` for `/usr/bin/npx`, `vite` for
    /// `node_modules/vite/bin/vite.js`. An own script that happens to have such a name is none.
    fn tool_of<'p>(&self, script: &'p str) -> Option<&'p str> {
        let stem = names::stem(script);
        let name = words::unversioned(words::program(stem));
        if !names::has_source_ending(script) {
            return self.is_tool(name).then_some(name);
        }
        if matches!(stem, "npx-cli" | "npm-cli") {
            return Some(stem);
        }
        let (package, installed) = names::node_package(script)?;
        (!installed && package == stem && self.is_tool(stem)).then_some(stem)
    }
}

fn compile(specs: Vec<toml::Spanned<load::RuleSpec>>, source: Source<'_>) -> Result<Vec<Rule>, CatalogError> {
    specs
        .into_iter()
        .map(|spec| Rule::compile(spec, source))
        .collect()
}

#[cfg(test)]
mod tests;
