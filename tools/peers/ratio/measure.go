package ratio

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"
)

// sample is the result of one measurement.
type sample struct {
	iterations int
	nanos      float64 // per iteration
	allocs     float64 // per iteration
	// metrics are the metrics that the benchmark has reported, by unit.
	metrics map[string]float64
}

// meter does one measurement. amount is a duration or a number of iterations, as the flag -test.benchtime takes it.
type meter func(run func(*testing.B), amount string) (sample, error)

// benchmark is the meter that really measures.
func benchmark(run func(*testing.B), amount string) (sample, error) {
	if err := flag.Set("test.benchtime", amount); err != nil {
		return sample{}, fmt.Errorf("benchmark time %s: %w", amount, err)
	}
	failed := false
	result := testing.Benchmark(func(b *testing.B) {
		defer func() { failed = failed || b.Failed() }()
		run(b)
	})
	switch {
	case failed:
		return sample{}, errors.New("the benchmark failed; go test -bench shows what it says")
	case result.N == 0 || result.T == 0:
		return sample{}, errors.New("the benchmark measured nothing")
	}
	n := float64(result.N)
	return sample{iterations: result.N, nanos: float64(result.T) / n, allocs: float64(result.MemAllocs) / n, metrics: result.Extra}, nil
}

// comparison is the result of a pair's rounds.
type comparison struct {
	ratio float64
	// ours and peer are the medians of each side.
	ours, peer sample
}

// compare measures both sides of a pair in turn, at least as often as rounds and the pair say, each time for about
// each.
func (p Pair) compare(measure meter, rounds int, each time.Duration) (comparison, error) {
	var samples [2][]sample
	var amounts [2]string
	for i, side := range p.sides() {
		first, err := measure(side.run, each.String())
		if err != nil {
			return comparison{}, fmt.Errorf("%s: %s: %w", p.Name, side.name, err)
		}
		amounts[i] = strconv.Itoa(first.iterations) + "x"
	}
	rounds = max(rounds, p.Rounds)
	ratios := make([]float64, 0, rounds)
	for round := range rounds {
		for turn := range 2 {
			i := (round + turn) % 2
			got, err := measure(p.sides()[i].run, amounts[i])
			if err == nil {
				err = p.check(got)
			}
			if err != nil {
				return comparison{}, fmt.Errorf("%s: %s: %w", p.Name, p.sides()[i].name, err)
			}
			samples[i] = append(samples[i], got)
		}
		ours, peer := p.value(samples[0][round]), p.value(samples[1][round])
		if peer == 0 {
			return comparison{}, fmt.Errorf("%s: peer: nothing to compare with, %s", p.Name, p.nothing())
		}
		ratios = append(ratios, ours/peer)
	}
	return comparison{ratio: median(ratios), ours: typical(samples[0]), peer: typical(samples[1])}, nil
}

// value returns the figure that the pair compares.
func (p Pair) value(s sample) float64 {
	switch {
	case p.Metric != "":
		return s.metrics[p.Metric]
	case p.Allocs:
		return s.allocs
	}
	return s.nanos
}

// check returns an error if s has nothing to compare.
func (p Pair) check(s sample) error {
	if _, reported := s.metrics[p.Metric]; p.Metric != "" && !reported {
		return fmt.Errorf("it doesn't report %s: call b.ReportMetric", p.Metric)
	}
	return nil
}

// nothing returns a text for the case that the peer's value is zero.
func (p Pair) nothing() string {
	if p.Metric != "" {
		return "its " + p.Metric + " is zero"
	}
	return "it allocates nothing"
}

func typical(samples []sample) sample {
	nanos, allocs := make([]float64, len(samples)), make([]float64, len(samples))
	for i, s := range samples {
		nanos[i], allocs[i] = s.nanos, s.allocs
	}
	metrics := make(map[string]float64, len(samples[0].metrics))
	for unit := range samples[0].metrics {
		values := make([]float64, len(samples))
		for i, s := range samples {
			values[i] = s.metrics[unit]
		}
		metrics[unit] = median(values)
	}
	return sample{iterations: samples[0].iterations, nanos: median(nanos), allocs: median(allocs), metrics: metrics}
}

// median is the middle one, or the mean of the two in the middle. values isn't empty and is sorted.
func median(values []float64) float64 {
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}
