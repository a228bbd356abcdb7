package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/operkit/operkit/tools/bench/internal/measure"
	"github.com/operkit/operkit/tools/bench/internal/program"
	"github.com/operkit/operkit/tools/bench/internal/report"
)

// part is the name of the rounds that all operators go through.
const part = "main"

// benchmark is one run.
type benchmark struct {
	// root is the folder of this module, folder the one for programs, logs and what was measured.
	root, folder string
	short        bool
	rounds       int
	operators    []string
	settings     measure.Settings
	store        *report.Store
}

func newBenchmark(short bool, rounds, count int) (*benchmark, error) {
	root, err := findRoot()
	if err != nil {
		return nil, err
	}
	b := &benchmark{
		root: root, folder: filepath.Join(root, "..", "..", ".cache", "bench", "full"), rounds: cmp.Or(rounds, 4),
		operators: []string{"operkit", "cr-update", "cr-apply", "kubebuilder-plain"},
		settings:  measure.Settings{Bundles: cmp.Or(count, 1000), Drifts: 100, Idle: time.Minute, Starts: 4, Memory: 1000},
	}
	if short {
		b.short, b.folder, b.rounds, b.operators = true, filepath.Join(filepath.Dir(b.folder), "short"), cmp.Or(rounds, 3), b.operators[:3]
		b.settings.Bundles, b.settings.Idle = cmp.Or(count, 200), 10*time.Second
	}
	b.settings.Drifts = min(b.settings.Drifts, b.settings.Bundles/2)
	b.settings.Definitions = filepath.Join(root, "config", "crd")
	b.settings.Programs, b.settings.Logs = filepath.Join(b.folder, "bin"), filepath.Join(b.folder, "logs")
	return b, nil
}

// findRoot is the folder of this module, from anywhere inside the repository.
func findRoot() (string, error) {
	at, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; at = filepath.Dir(at) {
		root := filepath.Join(at, "tools", "bench")
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return root, nil
		}
		if at == filepath.Dir(at) {
			return "", errors.New("no folder tools/bench here or above: run this inside the repository")
		}
	}
}

// forget removes what was measured before.
func (b *benchmark) forget() error { return os.RemoveAll(b.folder) }

// finished is the file that says that a run is complete: the next one begins anew.
func (b *benchmark) finished() string { return filepath.Join(b.folder, "complete") }

func (b *benchmark) finish() error { return os.WriteFile(b.finished(), nil, 0o644) }

func (b *benchmark) complete() bool {
	_, err := os.Stat(b.finished())
	return err == nil
}

// measure goes through all rounds that haven't been measured yet.
func (b *benchmark) measure(ctx context.Context) error {
	for _, folder := range []string{b.settings.Programs, b.settings.Logs} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	built, err := b.build(ctx)
	if err != nil {
		return err
	}
	store, err := report.Open(filepath.Join(b.folder, "results"), report.Settings{Part: part, Bundles: b.settings.Bundles, Built: built})
	if err != nil {
		return err
	}
	b.store = store
	for number := 1; number <= b.rounds; number++ {
		for turn := range b.operators {
			// Who goes first changes from round to round.
			operator := b.operators[(turn+number-1)%len(b.operators)]
			if done, err := store.Has(part, number, operator); err != nil || done {
				if err != nil {
					return err
				}
				continue
			}
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", number, b.rounds, operator)
			figures, err := measure.Round(ctx, b.settings, operator, os.Stderr)
			if err != nil {
				return fmt.Errorf("round %d: %w", number, err)
			}
			err = store.Put(part, report.Round{Operator: operator, Number: number, Bundles: b.settings.Bundles, Figures: figures})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// build compiles the operators and returns a hash of what came of it.
func (b *benchmark) build(ctx context.Context) (string, error) {
	sum := sha256.New()
	for _, operator := range b.operators {
		path, err := program.Build(ctx, b.root, operator, b.settings.Programs)
		if err != nil {
			return "", err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		sum.Write(content)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

// report writes the lines, and a table and charts beside what was measured. It tells whether every goal is met.
func (b *benchmark) report(out io.Writer) (met bool, err error) {
	rounds, err := b.store.Load(part)
	if err != nil {
		return false, err
	}
	r := report.Report{Operators: b.operators, Rows: rows(b.rounds), Rounds: rounds}
	if met, err = r.Lines(out); err != nil {
		return met, err
	}
	if err := r.Charts(filepath.Join(b.folder, "charts")); err != nil {
		return met, err
	}
	table, err := os.Create(filepath.Join(b.folder, "table.md"))
	if err != nil {
		return met, err
	}
	return met, errors.Join(r.Table(table), table.Close())
}
