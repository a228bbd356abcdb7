package gotest

import (
	"slices"
	"testing"
)

func TestParseTargets(t *testing.T) {
	t.Parallel()
	out := "FuzzOne\nFuzzTwo\nok  \texample.test/a\t0.1s\nok  \texample.test/b\t0.1s\n?   \texample.test/c\t[no test files]\nFuzzOne\nok  \texample.test/d\t0.1s\n"
	want := []target{{"example.test/a", "FuzzOne"}, {"example.test/a", "FuzzTwo"}, {"example.test/d", "FuzzOne"}}
	if got := parseTargets(out); !slices.Equal(got, want) {
		t.Errorf("targets %v, want %v", got, want)
	}
}

func TestTimeWasUp(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, said string
		want         bool
	}{
		{"the coordinator met its own deadline", "fuzz: elapsed: 0s\n--- FAIL: FuzzGood (0.22s)\n    context deadline exceeded\nFAIL\nexit status 1\n", true},
		{
			"a failing input, whose error is the same",
			"--- FAIL: FuzzBad (0.02s)\n    --- FAIL: FuzzBad (0.00s)\n        a_test.go:9: context deadline exceeded\n\n" +
				"    Failing input written to testdata/fuzz/FuzzBad/1\nFAIL\n", false,
		},
		{"a target that could not be set up", "--- FAIL: FuzzBad (0.02s)\n    a_test.go:9: no file\n    context deadline exceeded\nFAIL\n", false},
	} {
		if got := timeWasUp.MatchString(row.said); got != row.want {
			t.Errorf("%s: %v, want %v", row.reason, got, row.want)
		}
	}
}
