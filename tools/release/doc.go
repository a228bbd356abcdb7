// Command release publishes the modules of the repository: it plans which modules get which versions, makes the tags,
// and proves that each module works alone. README.md describes it.
package main
