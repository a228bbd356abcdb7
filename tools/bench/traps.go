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

// trapsFigure is the figure with the number of an operator's mistakes in the traps.
const trapsFigure = "traps-fallen-into"

// trapPart returns the part that tests operators in the traps. In the short form it tests only ours.
func (b *benchmark) trapPart(short bool) part {
	operators, settings := b.operators, b.settings
	if short {
		operators = operators[:1]
	}
	settings.Bundles = traps.Count() // about one for each trap; the number isn't measured
	return part{"traps", 1, operators, settings, b.askTraps}
}

// askTraps tests an operator in the traps, stores the results with their evidence, and returns the number of mistakes.
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

// reportTraps writes the table of the traps, if there are results.
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
