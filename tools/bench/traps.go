package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/operkit/operkit/tools/bench/internal/measure"
	"github.com/operkit/operkit/tools/bench/internal/report"
	"github.com/operkit/operkit/tools/bench/internal/traps"
)

// trapsFigure is how many traps an operator falls into.
const trapsFigure = "traps-fallen-into"

// trapPart asks what is right: of ours alone when it is short.
func (b *benchmark) trapPart(short bool) part {
	operators, settings := b.operators, b.settings
	if short {
		operators = operators[:1]
	}
	settings.Bundles = traps.Count() // one for each, more or less: none of them is measured
	return part{"traps", 1, operators, settings, b.askTraps}
}

// askTraps keeps the answers of an operator with their evidence, and returns how many aren't right.
func (b *benchmark) askTraps(ctx context.Context, s measure.Settings, operator string, progress io.Writer) (measure.Figures, error) {
	answers, err := traps.Run(ctx, s, operator, progress)
	if err != nil {
		return nil, err
	}
	if err := b.store.PutTraps(operator, answers); err != nil {
		return nil, err
	}
	return measure.Figures{trapsFigure: float64(fallenInto(answers))}, nil
}

func fallenInto(answers []report.Trap) (count int) {
	for _, answer := range answers {
		if !answer.Holds {
			count++
		}
	}
	return count
}

// reportTraps writes the table of the traps, when there are answers.
func (b *benchmark) reportTraps() error {
	answers, err := b.store.Traps(b.operators...)
	if err != nil || len(answers) == 0 {
		return err
	}
	table, err := os.Create(filepath.Join(b.folder, "traps.md"))
	if err != nil {
		return err
	}
	return errors.Join(report.TrapTable(table, answers), table.Close())
}
