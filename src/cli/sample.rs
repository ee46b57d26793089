//! `orderql sample`: fills a database with made-up orders.

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::database::connect;
use crate::cli::database_flags::DatabaseFlags;
use crate::cli::outcome::Outcome;
use crate::sample::fill::{FillProgress, FillStep, Sample, fill};
use crate::sample::size::SampleSize;

/// Fill an OFBiz database with made-up orders and all that belongs to them
///
/// The same numbers make the same rows, everywhere. Rows that are in the database stay, but it can hold only one sample.
/// All rows are written in one transaction that locks the tables, so do not run it on a database in use.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) database: DatabaseFlags,

    /// How many orders; the numbers of parties, facilities and products follow from it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST_ORDERS))]
    pub(crate) orders: u32,

    /// Seed of the random numbers: another one makes another sample
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// The most orders: ids have eight digits.
const MOST_ORDERS: i64 = 99_999_999;

/// Writes the sample and prints a line about it. Shows a progress bar if standard error is a terminal.
pub(crate) fn run(args: Args) -> Outcome {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?.block_on(fill_one(args))
}

async fn fill_one(args: Args) -> Outcome {
    let mut client = connect(&args.database.address()?).await?;
    let sample = Sample { size: SampleSize::of(args.orders), seed: args.seed };
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}")?;
    // It is drawn on a terminal only.
    let bar = ProgressBar::new(0).with_style(style);
    let filled = fill(&mut client, sample, &mut |progress| show(&bar, progress)).await;
    bar.finish_and_clear();
    let rows = filled?.rows;
    let SampleSize { orders, parties, facilities, products, .. } = sample.size;
    println!(
        "{rows} rows: {orders} orders, {parties} parties, {facilities} facilities, {products} products, of seed {}",
        sample.seed
    );
    Ok(())
}

fn show(bar: &ProgressBar, progress: FillProgress) {
    bar.set_message(match progress.step {
        FillStep::Rows => "rows",
        FillStep::Indexes => "indexes",
        FillStep::Statistics => "statistics",
    });
    bar.set_length(progress.total);
    bar.set_position(progress.done);
}
