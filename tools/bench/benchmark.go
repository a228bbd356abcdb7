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
	"slices"
	"time"

	"github.com/operkit/operkit/tools/bench/internal/measure"
	"github.com/operkit/operkit/tools/bench/internal/program"
	"github.com/operkit/operkit/tools/bench/internal/report"
)

// part is a piece of the benchmark, with rounds of its own.
type part struct {
	name      string
	rounds    int
	operators []string
	settings  measure.Settings
	measure   func(ctx context.Context, s measure.Settings, operator string, progress io.Writer) (measure.Figures, error)
}

// benchmark is one run.
type benchmark struct {
	// root is the folder of this module. folder has the programs, logs and results.
	root, folder string
	rounds       int
	operators    []string
	settings     measure.Settings
	parts        []part
	// only is true if one part was chosen.
	only bool
	// beside are parts that were measured earlier and whose figures are needed, too.
	beside []part
	store  *report.Store
}

func newBenchmark(short bool, rounds, count int) (*benchmark, error) {
	root, err := findRoot()
	if err != nil {
		return nil, err
	}
	b := &benchmark{
		root: root, folder: filepath.Join(root, "..", "..", ".cache", "bench", "full"), rounds: cmp.Or(rounds, 3),
		operators: []string{"operkit", "cr-update", "cr-apply", "kubebuilder-plain", "operkit-full"},
		settings:  measure.Settings{Bundles: cmp.Or(count, 1000), Drifts: 100, Idle: time.Minute, Starts: 10, Memory: 1000},
	}
	if short {
		b.folder, b.rounds, b.operators = filepath.Join(filepath.Dir(b.folder), "short"), cmp.Or(rounds, 3), b.operators[:3]
		b.settings.Bundles, b.settings.Idle = cmp.Or(count, 200), 10*time.Second
	}
	b.settings.Drifts = min(b.settings.Drifts, b.settings.Bundles/2)
	b.settings.Definitions, b.settings.Sources = filepath.Join(root, "config", "crd"), filepath.Join(root, "operators")
	b.settings.Programs, b.settings.Logs = filepath.Join(b.folder, "bin"), filepath.Join(b.folder, "logs")
	b.parts = []part{{"main", b.rounds, b.operators, b.settings, measure.Main}, b.trapPart(short)}
	if !short {
		b.parts = append(b.parts, b.part("faults", measure.Faults, 300, cmp.Or(rounds, 4)), b.part("scale", measure.Scale, 10_000, cmp.Or(rounds, 2)))
	}
	return b, nil
}

// part returns a part for operkit's operator and for its main peer.
func (b *benchmark) part(name string, run func(context.Context, measure.Settings, string, io.Writer) (measure.Figures, error), bundles, rounds int) part {
	settings := b.settings
	settings.Bundles = bundles
	return part{name, rounds, b.operators[:2], settings, run}
}

// findRoot returns the folder of this module. It works anywhere inside the repository.
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

// choose keeps only the part with that name.
func (b *benchmark) choose(name string) error {
	i := slices.IndexFunc(b.parts, func(p part) bool { return p.name == name })
	if i < 0 {
		return fmt.Errorf("part %q: there is none of that name: choose main or traps, or faults or scale when it isn't short", name)
	}
	if name == "scale" { // which is compared with a restart of main
		b.beside = b.parts[:1]
	}
	b.parts, b.only = b.parts[i:i+1], true
	return nil
}

// results returns the folder with the results.
func (b *benchmark) results() string { return filepath.Join(b.folder, "results") }

// forget removes all earlier results, or, if a part is chosen, only the results of that part.
func (b *benchmark) forget() error {
	if !b.only {
		return os.RemoveAll(b.folder)
	}
	return report.Forget(b.results(), b.parts[0].name)
}

// finished returns the file that marks a run as complete: the next run then starts from the beginning.
func (b *benchmark) finished() string { return filepath.Join(b.folder, "complete") }

func (b *benchmark) finish() error { return os.WriteFile(b.finished(), nil, 0o644) }

func (b *benchmark) complete() bool {
	_, err := os.Stat(b.finished())
	return err == nil
}

// measure measures all rounds that haven't been measured yet.
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
	var settings []report.Settings
	for _, p := range slices.Concat(b.parts, b.beside) {
		settings = append(settings, report.Settings{Part: p.name, Bundles: p.settings.Bundles, Built: built})
	}
	if b.store, err = report.Open(b.results(), settings...); err != nil {
		return err
	}
	for _, p := range b.parts {
		if err := b.measurePart(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (b *benchmark) measurePart(ctx context.Context, p part) error {
	for number := 1; number <= p.rounds; number++ {
		for turn := range p.operators {
			// Another operator goes first in each round.
			operator := p.operators[(turn+number-1)%len(p.operators)]
			done, err := b.store.Has(p.name, number, operator)
			if err != nil {
				return err
			}
			if done {
				continue
			}
			fmt.Fprintf(os.Stderr, "%s: round %d of %d: %s\n", p.name, number, p.rounds, operator)
			p.settings.Round = number
			figures, err := p.measure(ctx, p.settings, operator, os.Stderr)
			if err == nil {
				err = b.store.Put(p.name, report.Round{Operator: operator, Number: number, Bundles: p.settings.Bundles, Figures: figures})
			}
			if err != nil {
				return fmt.Errorf("%s: round %d: %w", p.name, number, err)
			}
		}
	}
	return nil
}

// build compiles the operators and returns a hash of the programs.
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

// report writes the lines to out, and a table and charts into the folder of the benchmark. It reports whether every
// goal is met.
func (b *benchmark) report(out io.Writer) (met bool, err error) {
	r := report.Report{Operators: b.operators}
	for _, p := range slices.Concat(b.parts, b.beside) {
		rounds, err := b.store.Load(p.name)
		if err != nil {
			return false, err
		}
		r.Rounds = append(r.Rounds, rounds...)
	}
	for _, p := range b.parts {
		r.Rows = append(r.Rows, rowsOf[p.name](p.rounds)...)
	}
	if met, err = r.Lines(out); err != nil {
		return met, err
	}
	if err := b.reportTraps(); err != nil {
		return met, err
	}
	if err := r.Charts(filepath.Join(b.folder, "charts")); err != nil {
		return met, err
	}
	name := "table.md"
	if b.only { // keep the table of a whole run
		name = "table-" + b.parts[0].name + ".md"
	}
	table, err := os.Create(filepath.Join(b.folder, name))
	if err != nil {
		return met, err
	}
	return met, errors.Join(r.Table(table), table.Close())
}
