//! Many callers at once: what was acknowledged is there, what was refused is not.

use super::tests::{limit_pages, new_task, open_in};
use super::*;

async fn titles(store: &Store) -> Vec<String> {
    let page = store.read(|r| r.tasks("/repo", 0, 10_000)).await;
    let mut titles: Vec<_> = page.unwrap().tasks.into_iter().map(|t| t.title).collect();
    titles.sort();
    titles
}

/// Keeps the queue's thread busy until it is dropped.
fn hold(store: &Store) -> std::sync::mpsc::Sender<()> {
    let (sender, gate) = std::sync::mpsc::channel::<()>();
    let store = store.clone();
    tokio::spawn(async move {
        let held = store.read(move |_| Ok(gate.recv().is_err())).await;
        assert!(held.unwrap());
    });
    sender
}

/// Starts all changes before the first is made, so that they wait together.
async fn at_once<F>(store: &Store, count: usize, change: impl Fn(usize) -> F) -> Vec<Option<String>>
where
    F: FnOnce(&Writer<'_>) -> Result<String, StoreError> + Send + 'static,
{
    let held = hold(store);
    let tasks: Vec<_> = (0..count)
        .map(|number| {
            let (store, change) = (store.clone(), change(number));
            tokio::spawn(async move { store.write(change).await })
        })
        .collect();
    tokio::task::yield_now().await;
    drop(held);
    let mut acknowledged = Vec::new();
    for task in tasks {
        acknowledged.push(task.await.ok().and_then(Result::ok));
    }
    acknowledged
}

#[tokio::test]
async fn one_that_fails_or_panics_takes_no_other_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    let acknowledged = at_once(&store, 100, |number| {
        move |w: &Writer<'_>| {
            let task = w.insert_task(&new_task(&format!("task {number:03}")))?;
            match number % 4 {
                1 => Err(StoreError::TaskNotFound { id: task.id }),
                2 => panic!("the caller's own fault"),
                _ => Ok(task.title),
            }
        }
    })
    .await;
    for (number, title) in acknowledged.iter().enumerate() {
        assert_eq!(title.is_some(), !matches!(number % 4, 1 | 2), "{number}");
    }
    let acknowledged: Vec<_> = acknowledged.into_iter().flatten().collect();
    assert_eq!(titles(&store).await, acknowledged);
}

#[tokio::test]
async fn a_disk_that_fills_up_takes_back_only_what_was_not_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    limit_pages(&store, 20);
    let acknowledged = at_once(&store, 200, |number| {
        move |w: &Writer<'_>| {
            let mut task = new_task(&format!("task {number:03}"));
            task.description = "long ".repeat(200);
            Ok(w.insert_task(&task)?.title)
        }
    })
    .await;
    let refused = acknowledged.iter().filter(|title| title.is_none()).count();
    assert!((1..200).contains(&refused), "{refused}");
    let acknowledged: Vec<_> = acknowledged.into_iter().flatten().collect();
    assert_eq!(titles(&store).await, acknowledged);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_caller_that_goes_before_its_turn_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_in(folder.path());
    let held = hold(&store);
    let other = store.clone();
    let waiting = tokio::spawn(async move {
        other
            .write(|w| w.insert_task(&new_task("never wanted")))
            .await
    });
    tokio::task::yield_now().await;
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    drop(held);
    assert_eq!(titles(&store).await, Vec::<String>::new());
}
