package ratio

import (
	"bytes"
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"
)

// script is a meter that answers from lists and notes what it was asked.
type script struct {
	nanos map[string][]float64
	asked []string
}

// named is a benchmark that tells the script who it is.
func (s *script) named(name string, who *string) func(*testing.B) {
	return func(*testing.B) { *who = name }
}

func (s *script) pair(goal float64, ours, peer []float64) (Pair, meter) {
	var who string
	s.nanos = map[string][]float64{"ours": ours, "peer": peer}
	measure := func(run func(*testing.B), amount string) (sample, error) {
		run(nil)
		s.asked = append(s.asked, who+" "+amount)
		if amount == "1s" {
			return sample{iterations: 10 * len(who+amount)}, nil
		}
		next := s.nanos[who][0]
		s.nanos[who] = s.nanos[who][1:]
		if next < 0 {
			return sample{}, errors.New("broken")
		}
		return sample{iterations: 1, nanos: next, allocs: 2 * next}, nil
	}
	return Pair{Name: "work", Goal: goal, Ours: s.named("ours", &who), Peer: s.named("peer", &who), Hint: "the profile"}, measure
}

func TestRounds(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason     string
		ours, peer []float64
		allocs     bool
		goal       float64
		code       int
		stdout     string
		stderr     string
	}{
		{
			"the median of the rounds' ratios", []float64{1, 1, 1, 1, 5, 5, 5}, []float64{2, 2, 2, 2, 10, 10, 10}, false, 0.5,
			0, "RATIO work 0.500 goal 0.5 ok\n", "",
		},
		{
			"a few disturbed measurements don't count", []float64{9, 1, 1, 9, 1, 1, 1}, []float64{2, 2, 70, 2, 2, 2, 2}, false, 0.5,
			0, "RATIO work 0.500 goal 0.5 ok\n", "",
		},
		{
			"load on half of the rounds meets both sides", []float64{10, 10, 10, 20, 20, 20, 20}, []float64{10, 10, 10, 10, 20, 20, 20}, false, 1,
			0, "RATIO work 1 goal 1 ok\n", "",
		},
		{
			"missed", []float64{3, 3, 3, 3, 3, 3, 3}, []float64{2, 2, 2, 2, 2, 2, 2}, false, 1.25,
			1, "RATIO work 1.500 goal 1.25 MISSED\n", "work missed its goal: the profile\n",
		},
		{
			"allocations", []float64{2, 2, 2, 2, 2, 2, 2}, []float64{8, 8, 8, 8, 8, 8, 8}, true, 0.3,
			0, "RATIO work 0.250 goal 0.3 ok\n", "",
		},
		{
			"a peer that allocates nothing", []float64{2, 2, 2, 2, 2, 2, 2}, make([]float64, 7), true, 0.3,
			1, "", "work: peer: nothing to compare with, it allocates nothing\n",
		},
		{"ours fails in a later round", []float64{2, -1}, []float64{2, 2}, false, 1, 1, "", "work: ours: broken\n"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			var s script
			pair, measure := s.pair(row.goal, row.ours, row.peer)
			pair.Allocs = row.allocs
			var stdout, stderr bytes.Buffer
			code := run([]string{"-rounds", "7", "-time", "1s"}, &stdout, &stderr, measure, []Pair{pair}, nil)
			if code != row.code || stdout.String() != row.stdout || stderr.String() != row.stderr {
				t.Errorf("code %d, want %d\nstdout %q, want %q\nstderr %q, want %q",
					code, row.code, stdout.String(), row.stdout, stderr.String(), row.stderr)
			}
		})
	}
}

// A pair whose times scatter is measured more often than the flag says, never less.
func TestRoundsOfAPair(t *testing.T) {
	t.Parallel()
	for wanted, rounds := range map[int]int{0: 9, 3: 9, 12: 12} {
		var s script
		ones := slices.Repeat([]float64{1}, rounds)
		pair, measure := s.pair(1, slices.Clone(ones), slices.Clone(ones))
		pair.Rounds = wanted
		if code := run([]string{"-time", "1s"}, new(bytes.Buffer), new(bytes.Buffer), measure, []Pair{pair}, nil); code != 0 || len(s.asked) != 2+2*rounds {
			t.Errorf("Rounds %d: code %d, %d measurements, want %d", wanted, code, len(s.asked), 2+2*rounds)
		}
	}
}

func TestTurns(t *testing.T) {
	t.Parallel()
	var s script
	ones := []float64{1, 1, 1, 1, 1, 1, 1, 1, 1}
	pair, measure := s.pair(1, slices.Clone(ones), slices.Clone(ones))
	if code := run([]string{"-time", "1s"}, new(bytes.Buffer), new(bytes.Buffer), measure, []Pair{pair}, nil); code != 0 {
		t.Fatalf("code %d", code)
	}
	want := []string{"ours 1s", "peer 1s"}
	for round := range 9 {
		turns := []string{"ours 60x", "peer 60x"}
		if round%2 == 1 {
			slices.Reverse(turns)
		}
		want = append(want, turns...)
	}
	if !slices.Equal(s.asked, want) {
		t.Errorf("asked %q\nwant  %q", s.asked, want)
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	counts := []Count{
		{Name: "few", Goal: 18, Measure: func() (float64, error) { return 18, nil }},
		{Name: "many", Goal: 18, Measure: func() (float64, error) { return 19.5, nil }, Hint: "go list -deps"},
		{Name: "none", Goal: 1, Measure: func() (float64, error) { return 0, errors.New("no go command") }},
	}
	for _, row := range []struct {
		reason, names  string
		code           int
		stdout, stderr string
	}{
		{"met", "few", 0, "COUNT few 18 goal 18 ok\n", ""},
		{
			"all, hints last", "", 1, "COUNT few 18 goal 18 ok\nCOUNT many 19.500 goal 18 MISSED\n",
			"none: no go command\nmany missed its goal: go list -deps\n",
		},
		{"nothing chosen", "other", 1, "", "nothing has such a name: -run leaves nothing to measure\n"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			code := run([]string{"-run", row.names}, &stdout, &stderr, nil, nil, counts)
			if code != row.code || stdout.String() != row.stdout || stderr.String() != row.stderr {
				t.Errorf("code %d, want %d\nstdout %q\nstderr %q", code, row.code, stdout.String(), stderr.String())
			}
		})
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		args   []string
		code   int
		stderr string
	}{
		{"too few rounds", []string{"-rounds", "6"}, 2, "-rounds 6: a median needs at least 7"},
		{"no time", []string{"-time", "0s"}, 2, "-time 0s: it must be more than nothing"},
		{"not a regular expression", []string{"-run", "("}, 2, "missing closing"},
		{"not a flag", []string{"dag"}, 2, `argument "dag": there are only flags`},
		{"help", []string{"-h"}, 0, "-rounds"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			if code := run(row.args, &stdout, &stderr, nil, nil, nil); code != row.code {
				t.Errorf("code %d, want %d", code, row.code)
			}
			if !strings.Contains(stderr.String(), row.stderr) || stdout.Len() > 0 {
				t.Errorf("stdout %q, stderr %q, want %q", stdout.String(), stderr.String(), row.stderr)
			}
		})
	}
}

var sink []byte

// It sets a flag of the testing package, so that it can't run beside others.
func TestBenchmark(t *testing.T) {
	before := flag.Lookup("test.benchtime").Value.String()
	t.Cleanup(func() { _ = flag.Set("test.benchtime", before) })
	quick := func(b *testing.B) {
		for b.Loop() {
			time.Sleep(10 * time.Microsecond)
		}
	}
	slow := func(b *testing.B) {
		for range b.N {
			time.Sleep(2 * time.Millisecond)
			sink = make([]byte, 100)
		}
	}
	reports := func(value float64) func(b *testing.B) {
		return func(b *testing.B) {
			slow(b)
			b.ReportMetric(value, "bytes/object")
		}
	}
	fails := func(b *testing.B) {
		if b.N > 1 {
			b.Fatal("only with many")
		}
	}
	var stdout, stderr bytes.Buffer
	code := run([]string{"-v", "-rounds", "7", "-time", "5ms"}, &stdout, &stderr, benchmark, []Pair{
		{Name: "quick", Goal: 1, Ours: quick, Peer: slow},
		{Name: "allocs", Goal: 0.5, Ours: quick, Peer: slow, Allocs: true},
		{Name: "slow", Goal: 1, Ours: slow, Peer: quick, Hint: "sleep less"},
		{Name: "metric", Goal: 0.25, Ours: reports(1000), Peer: reports(4000), Metric: "bytes/object"},
		{Name: "zero", Goal: 1, Ours: reports(1000), Peer: reports(0), Metric: "bytes/object"},
		{Name: "silent", Goal: 1, Ours: quick, Peer: reports(1), Metric: "bytes/object"},
		{Name: "fails", Goal: 1, Ours: fails, Peer: slow},
		{Name: "skips", Goal: 1, Ours: quick, Peer: func(b *testing.B) { b.SkipNow() }},
	}, nil)
	if code != 1 {
		t.Errorf("code %d", code)
	}
	for _, want := range []string{"RATIO quick 0.", " goal 1 ok\n", "RATIO allocs 0", " goal 0.5 ok\n", "RATIO slow ", " goal 1 MISSED\n", "RATIO metric 0.250 goal 0.25 ok\n"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%q is not in\n%s", want, stdout.String())
		}
	}
	for _, want := range []string{
		"  ours ", "  peer ", " allocs/op, ", " allocs/op 4000 bytes/object, ", "slow missed its goal: sleep less\n",
		"zero: peer: nothing to compare with, its bytes/object is zero\n", "silent: ours: it doesn't report bytes/object: call b.ReportMetric\n",
		"fails: ours: the benchmark failed; go test -bench shows what it says\n", "skips: peer: the benchmark measured nothing\n",
	} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("%q is not in\n%s", want, stderr.String())
		}
	}
	if lines := strings.Count(stdout.String(), "\n"); lines != 4 {
		t.Errorf("%d lines\n%s", lines, stdout.String())
	}
}
