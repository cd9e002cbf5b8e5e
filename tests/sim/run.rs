//! One run from one seed: faults for a while, then none, then quiet.

use crate::client::Client;
use crate::shard::Shard;
use fastrand::Rng;
use onetrip::buffers::Pool;
use onetrip::client::budget::Budget;
use onetrip::client::local::{Facts, Settings};
use onetrip::client::world::World;
use onetrip::command::table::ROWS;
use onetrip::lane::LaneLimits;
use onetrip::lane::set::LaneSet;
use onetrip::limits::{ClientLimits, Timeouts};
use onetrip::metrics::{Listener, WorkerMetrics};
use onetrip::reassembly::merge::info::Own;
use onetrip::resp::Proto;
use onetrip::slot::ShardId;
use onetrip::topology::SlotMap;
use onetrip::trip::{NANOS_PER_MS, Nanos};
use onetrip::turn::{Tools, Turn};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Steps with faults, and the most that it may take until all is quiet after them.
const STEPS: usize = 300;
const QUIET_STEPS: usize = 20_000;
/// Requests longer than this are shared with their lane, replies longer than that are streamed.
const LONG_VALUE: usize = 40_000;
const STREAMED_VALUE: usize = 1_400_000;

/// How the clients of a run behave.
#[derive(Clone, Copy, Debug)]
pub struct Habits {
    pub longest_value: usize,
    /// Bytes between the proxy and a client that doesn't read.
    pub send_buffer: usize,
    /// Uses CLIENT REPLY, RESET and QUIT.
    pub changes_replies: bool,
}

impl Habits {
    fn choose(rng: &mut Rng) -> Habits {
        let streams = rng.u8(..) < 12;
        Habits {
            longest_value: if streams { STREAMED_VALUE } else { LONG_VALUE },
            send_buffer: if streams { 300_000 } else { 3_000 },
            changes_replies: rng.u8(..) < 200,
        }
    }

    /// What one request or reply may take over a bound, and what was appended to a value.
    fn slack(&self) -> usize {
        2 * self.longest_value + 100_000
    }
}

/// What happened, so that a run can be seen to have tried something.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    pub replies: u64,
    pub unknown: u64,
    pub unreachable: u64,
    pub losses: u64,
    pub stops: u64,
    pub departures: u64,
    pub broken: u64,
    pub stalls: u64,
    pub farewells: u64,
    pub unheard: u64,
    pub garbage: u64,
}

impl Report {
    pub fn add(&mut self, other: &Report) {
        self.replies += other.replies;
        self.unknown += other.unknown;
        self.unreachable += other.unreachable;
        self.losses += other.losses;
        self.stops += other.stops;
        self.departures += other.departures;
        self.broken += other.broken;
        self.stalls += other.stalls;
        self.farewells += other.farewells;
        self.unheard += other.unheard;
        self.garbage += other.garbage;
    }
}

struct Sim {
    rng: Rng,
    now: Nanos,
    world: World,
    metrics: Arc<WorkerMetrics>,
    pool: Pool,
    clients: Vec<Client>,
    shards: Vec<Shard>,
    next_id: u64,
    lane_bytes: usize,
    habits: Habits,
    report: Report,
}

pub fn run(seed: u64) -> Report {
    let mut sim = Sim::new(seed);
    let calm = sim.rng.u32(0..100);
    // A process that is told to end turns away what comes from then on; what it has taken it answers.
    let closes_at = if sim.habits.changes_replies { STEPS } else { sim.rng.usize(STEPS / 2..2 * STEPS) };
    for step in 0..STEPS {
        sim.world.closing.set(step >= closes_at);
        if sim.rng.u32(0..100) >= calm {
            sim.fault();
        }
        for client in 0..sim.clients.len() {
            if sim.rng.u8(..) < 40 {
                sim.clients[client].ask(&mut sim.rng);
            }
        }
        sim.step();
    }
    sim.heal();
    let mut steps = 0;
    while !sim.is_quiet() {
        sim.step();
        steps += 1;
        assert!(steps < QUIET_STEPS, "a reply never came after all faults were healed:\n{}", sim.picture());
    }
    assert_eq!(sim.metrics.claimed_bytes.get(), 0, "somebody claims memory who has nothing under way");
    sim.report
}

impl Sim {
    fn new(seed: u64) -> Sim {
        let mut rng = Rng::with_seed(seed);
        let shards = rng.u16(1..=5);
        let metrics = Arc::new(WorkerMetrics::new(shards as usize, ROWS.len() + 1));
        let lane_bytes = rng.usize(200..8_000);
        let world = world(shards, lane_bytes, &metrics, &mut rng);
        let habits = Habits::choose(&mut rng);
        let lanes = |shard| Proto::ALL.map(|proto| Rc::clone(world.lanes.lane(ShardId(shard), proto)));
        let shards = (0..shards).map(|shard| Shard::new(seed, lanes(shard))).collect();
        let clients =
            (0..rng.u64(2..6)).map(|id| Client::new(id, habits, &world, &mut rng)).collect::<Vec<_>>();
        let next_id = clients.len() as u64;
        metrics.connections[Listener::Tcp].add(next_id);
        let pool = Pool::default();
        Sim {
            rng,
            now: 1,
            world,
            metrics,
            pool,
            clients,
            shards,
            next_id,
            lane_bytes,
            habits,
            report: Report::default(),
        }
    }

    fn fault(&mut self) {
        let shard = self.rng.usize(..self.shards.len());
        let mut turn = Turn::new(self.now, &self.metrics, &mut self.pool);
        match self.rng.u32(..40) {
            0 => {
                let longest = if self.rng.bool() { 150 } else { 1_500 };
                self.shards[shard].stopped_until = self.now + self.rng.u64(1..longest) * NANOS_PER_MS;
                self.report.stops += 1;
            }
            1..4 => {
                let link = self.rng.usize(..Proto::ALL.len());
                let lost = self.shards[shard].lose(link, &mut self.rng, &mut turn);
                self.report.losses += u64::from(lost);
            }
            4 => {
                for link in 0..Proto::ALL.len() {
                    self.shards[shard].lose(link, &mut self.rng, &mut turn);
                }
                self.shards[shard].dead_until = self.now + self.rng.u64(1..120) * NANOS_PER_MS;
                self.report.losses += 1;
            }
            5 => {
                let client = self.rng.usize(..self.clients.len());
                self.clients[client].connection.leave(&self.world, &mut turn);
                self.report.departures += 1;
                self.replace(client);
            }
            6 => self.now += self.rng.u64(1..400) * NANOS_PER_MS,
            7 => {
                let link = self.rng.usize(..Proto::ALL.len());
                self.shards[shard].links[link].poison();
                self.report.garbage += 1;
            }
            _ => {}
        }
    }

    fn heal(&mut self) {
        for shard in &mut self.shards {
            shard.stopped_until = 0;
            shard.dead_until = 0;
        }
        for client in &mut self.clients {
            client.ask_all();
        }
    }

    fn replace(&mut self, client: usize) {
        self.clients[client] = Client::new(self.next_id, self.habits, &self.world, &mut self.rng);
        self.next_id += 1;
    }

    fn step(&mut self) {
        self.now += self.rng.u64(1..3 * NANOS_PER_MS);
        for client in 0..self.clients.len() {
            let mut turn = Turn::new(self.now, &self.metrics, &mut self.pool);
            let open = self.clients[client].step(&self.world, &mut self.rng, &mut turn, &mut self.report);
            if !open {
                self.clients[client].connection.leave(&self.world, &mut turn);
                self.replace(client);
            }
        }
        for shard in &mut self.shards {
            let mut turn = Turn::new(self.now, &self.metrics, &mut self.pool);
            shard.step(&mut self.rng, &mut turn);
        }
        self.check_bounds();
    }

    fn check_bounds(&self) {
        for client in &self.clients {
            let held = client.connection.conversation.window().waiting_bytes();
            assert!(
                held <= self.world.limits.output_hard + self.habits.slack(),
                "a window holds {held} bytes"
            );
        }
        for held in self.shards.iter().flat_map(|shard| &shard.links).map(|link| link.bytes()) {
            assert!(held <= self.lane_bytes + self.habits.slack(), "a lane holds {held} bytes");
        }
    }

    /// What everybody waits for.
    fn picture(&self) -> String {
        let clients = self.clients.iter().map(Client::picture);
        let links = self.shards.iter().flat_map(|shard| &shard.links).map(|link| link.picture());
        clients.chain(links).collect::<Vec<_>>().join("\n")
    }

    fn is_quiet(&self) -> bool {
        let lanes = self.shards.iter().flat_map(|shard| &shard.links).all(|link| link.is_still());
        lanes && self.clients.iter().all(|client| client.is_done())
    }
}

fn world(shards: u16, lane_bytes: usize, metrics: &Arc<WorkerMetrics>, rng: &mut Rng) -> World {
    let ms = Duration::from_millis;
    let timeouts = Timeouts { connect: ms(50), request: ms(200), lane_dead: ms(500), ..Timeouts::default() };
    let addresses: Vec<Rc<str>> = (0..shards).map(|shard| format!("sim:{shard}").into()).collect();
    World {
        tools: Rc::new(Tools::new(Arc::clone(metrics))),
        lanes: LaneSet::new(&addresses, &LaneLimits::new(&timeouts, lane_bytes)),
        map: Arc::new(SlotMap::even(shards)),
        facts: Facts {
            version: "7.4.0".into(),
            now_us: Cell::new(0),
            password: None,
            directory: Arc::default(),
            settings: Arc::new(Settings::default()),
        },
        own: Own::default(),
        started_ms: 0,
        limits: Rc::new(client_limits(rng)),
        // Shares below a client's own bounds, in some runs, and above them in others.
        budget: Budget::new(1 << rng.u32(14..24), 0, Arc::new([Arc::clone(metrics)])),
        handshake: ms(1_000),
        idle: None,
        decoder: RefCell::default(),
        positions: RefCell::default(),
        strangers: Cell::default(),
        closing: Cell::new(false),
    }
}

/// Bounds so tight that runs hit each of them, and so wide in others that many commands are in flight.
fn client_limits(rng: &mut Rng) -> ClientLimits {
    let window_max = 4 << rng.u32(0..6);
    let output_soft = 500 << rng.u32(0..13);
    let above = if rng.u8(..) < 40 { 1_000 } else { 1 << 22 };
    ClientLimits {
        window_min: rng.usize(1..=window_max.min(16)),
        window_max,
        request_bytes: 100 << rng.u32(0..9),
        output_soft,
        output_hard: output_soft + above,
    }
}
