package process_test

import (
	"os/exec"
	"slices"
	"testing"

	"github.com/operkit/operkit/tools/check/process"
)

func TestRoomy(t *testing.T) {
	t.Setenv("GOGC", "50")
	given := []string{"A=b"}
	for _, row := range []struct {
		reason     string
		given, got []string
	}{
		{"more memory", given, []string{"A=b", "GOGC=400"}},
		{"somebody knows better", []string{"GOGC=off", "A=b"}, []string{"GOGC=off", "A=b"}},
	} {
		if got := process.Roomy(row.given); !slices.Equal(got, row.got) {
			t.Errorf("%s: got %v, want %v", row.reason, got, row.got)
		}
	}
	if got := process.Roomy(nil); !slices.Contains(got, "GOGC=50") {
		t.Errorf("nil isn't the environment of the process: %v", got)
	}
}

// What yields does the same as what doesn't.
func TestYielding(t *testing.T) {
	t.Parallel()
	words := process.Yielding("sh", "-c", `test "$1" = "a b" && nice`, "sh", "a b")
	out, err := exec.CommandContext(t.Context(), words[0], words[1:]...).Output()
	if err != nil || string(out) != "10\n" {
		t.Errorf("%v: %q, %v", words, out, err)
	}
}
