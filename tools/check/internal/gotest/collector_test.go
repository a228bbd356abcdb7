package gotest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// collect feeds a recorded stream of go test -json, in pieces of an odd size, to a collector.
func collect(t *testing.T, file string) (Tally, string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	collector := NewCollector(&out)
	split := &lines{each: collector.Line}
	for len(text) > 0 {
		n := min(37, len(text))
		if _, err := split.Write(text[:n]); err != nil {
			t.Fatal(err)
		}
		text = text[n:]
	}
	split.flush()
	collector.Close()
	return collector.Tally, out.String()
}

func TestCollector(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		file, reason string
		tally        Tally
		out          string
	}{
		{
			"pass.jsonl", "tests, subtests, fuzz seeds and examples count; only the package lines are printed", Tally{Passed: 7},
			"ok  \texample.test/fx/pass\t0.003s\n?   \texample.test/fx/none\t[no test files]\n",
		},
		{
			"fail.jsonl", "the failed subtest and its parent count; what passed tests print is not shown", Tally{Passed: 2, Failed: 2},
			"    a_test.go:8: want 1, got 2\n--- FAIL: TestTable/bad (0.00s)\n--- FAIL: TestTable (0.00s)\n" +
				"FAIL\nFAIL\texample.test/fx/fail\t0.003s\n",
		},
		{
			"soak.jsonl", "with which seed a long test was run is shown though it passed", Tally{Passed: 1},
			"    a_test.go:5: SOAK fx: 2000 operations of the seed 7\nok  \texample.test/fx/soak\t0.003s\n",
		},
		{
			"figures.jsonl", "what a test measured or counted is shown by itself, however it was printed", Tally{Passed: 2},
			"COUNT objects-lost 0\nRATIO fast 0.5\nVECTORS graph passed=3\nok  \texample.test/fx/figures\t0.003s\n",
		},
		{
			"skip.jsonl", "a skipped test is counted and shown with its reason", Tally{Passed: 1, Skipped: 1},
			"    a_test.go:5: no cluster\n--- SKIP: TestSkipped (0.00s)\nok  \texample.test/fx/skip\t0.003s\n",
		},
		{
			"buildfail.jsonl", "a package that does not build is one failure", Tally{Failed: 1},
			"# example.test/fx/buildfail [example.test/fx/buildfail.test]\nbuildfail/a_test.go:5:28: undefined: undefined\n" +
				"FAIL\texample.test/fx/buildfail [build failed]\n",
		},
		{
			"exit.jsonl", "a TestMain that exits with an error is one failure, though every test passed", Tally{Passed: 1, Failed: 1},
			"PASS\ngoroutine leaked\nFAIL\texample.test/fx/exit\t0.005s\n",
		},
		{
			"unfinished.jsonl", "a test that began and did not end is a failure", Tally{Failed: 1},
			"FAIL\texample.test/fx/unfinished\t0.003s\n",
		},
		{
			"flaky.jsonl", "with -count each run counts, and only the one that failed is shown", Tally{Passed: 2, Failed: 1},
			"    a_test.go:9: run 2\n    a_test.go:11: second run\n--- FAIL: TestFlaky (0.00s)\nFAIL\nFAIL\texample.test/fx/flaky\t0.004s\n",
		},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			tally, out := collect(t, row.file)
			if tally != row.tally {
				t.Errorf("counts %v, want %v", tally, row.tally)
			}
			if out != row.out {
				t.Errorf("printed\n%s\nwant\n%s", out, row.out)
			}
		})
	}
}

func TestCollectorShowsCrashes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		file, reason string
		tally        Tally
		shown        []string
	}{
		{
			"panics.jsonl", "the test that panicked counts once; those after it never began", Tally{Passed: 1, Failed: 1},
			[]string{"panic: assignment to entry in nil map", "panics/a_test.go:6", "FAIL\texample.test/fx/panics\t"},
		},
		{
			"timeout.jsonl", "the test that ran out of time and its parent count", Tally{Failed: 2},
			[]string{"panic: test timed out after 1s", "TestSlow/sub (1s)", "FAIL\texample.test/fx/timeout\t"},
		},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			tally, out := collect(t, row.file)
			if tally != row.tally {
				t.Errorf("counts %v, want %v", tally, row.tally)
			}
			for _, part := range row.shown {
				if !strings.Contains(out, part) {
					t.Errorf("printed\n%s\nwithout %q", out, part)
				}
			}
		})
	}
}

func TestCollectorOfInterruptedRun(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	collector := NewCollector(&out)
	for _, line := range []string{
		"a line that is no event",
		`{"Action":"start","Package":"p"}`,
		`{"Action":"run","Package":"p","Test":"TestDone"}`,
		`{"Action":"pass","Package":"p","Test":"TestDone"}`,
		`{"Action":"run","Package":"p","Test":"TestHangs"}`,
		`{"Action":"output","Package":"p","Test":"TestHangs","Output":"waiting\n"}`,
		`{"Action":"start","Package":"q"}`,
	} {
		collector.Line([]byte(line))
	}
	collector.Close()
	if want := (Tally{Passed: 1, Failed: 2}); collector.Tally != want {
		t.Errorf("counts %v, want %v: a test that hangs, and a package that was never finished", collector.Tally, want)
	}
	if want := "a line that is no event\nwaiting\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}

func TestTally(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		tally  Tally
		ok     bool
	}{
		{"all passed", Tally{Passed: 1}, true},
		{"nothing ran", Tally{}, false},
		{"one failed", Tally{Passed: 9, Failed: 1}, false},
		{"one was skipped", Tally{Passed: 9, Skipped: 1}, false},
	} {
		if row.tally.OK() != row.ok {
			t.Errorf("%s: %v, want %v", row.reason, row.tally.OK(), row.ok)
		}
	}
}

func FuzzParseEvent(f *testing.F) {
	f.Add([]byte(`{"Action":"pass","Package":"p","Test":"T"}`))
	f.Add([]byte(`{"Action":1}`))
	f.Add([]byte(`ok`))
	f.Fuzz(func(t *testing.T, line []byte) {
		event, ok := ParseEvent(line)
		if ok && event.Action == "" {
			t.Errorf("%q: an event without an action", line)
		}
		collector := NewCollector(&bytes.Buffer{})
		collector.Line(line)
		collector.Close()
		if n := collector.Tally.Passed + collector.Tally.Skipped; n > 0 {
			t.Errorf("%q: one line alone counted as %v", line, collector.Tally)
		}
	})
}
