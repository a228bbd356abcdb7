package reconciletest

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/operkit/operkit/deploy"
)

func init() {
	// Another package may have one already, which then serves here too.
	if flag.Lookup("update") == nil {
		flag.Bool("update", false, "write golden files anew instead of comparing with them")
	}
}

// updating tells whether golden files are to be written.
func updating() bool {
	update := flag.Lookup("update")
	if update == nil {
		return false
	}
	value, ok := update.Value.(flag.Getter)
	return ok && value.Get() == true
}

// Golden compares what Render returns for a resource with the file testdata/<file>.yaml of the test's package, and
// fails the test where they differ. With the flag -update (go test . -update) the file is written instead; a test
// package that defines a flag of that name itself must do so only where flag.Lookup finds none. Values of
// Secrets are in the clear: what a test renders is no secret.
func (h *Harness) Golden(resource, file string) {
	h.t.Helper()
	var text strings.Builder
	for _, component := range h.Render(resource) {
		if err := component.write(&text); err != nil {
			h.t.Fatalf("reconciletest: golden %s: %v", file, err)
		}
	}
	path := filepath.Join("testdata", file+".yaml")
	if h.update() {
		if err := write(path, text.String()); err != nil {
			h.t.Fatalf("reconciletest: golden %s: %v", file, err)
		}
		return
	}
	want, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		h.t.Errorf("%s: doesn't exist: run the test with -update to write it", path)
	case err != nil:
		h.t.Fatalf("reconciletest: golden %s: %v", file, err)
	case strings.ReplaceAll(string(want), "\r\n", "\n") != text.String():
		h.t.Errorf("%s: is not what %s renders now; -update writes it anew if that is right:\n%s",
			path, resource, difference(string(want), text.String()))
	}
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

func (r Rendered) write(out *strings.Builder) error {
	title := "# component " + r.Component
	if r.Disabled {
		title += " (disabled)"
	}
	if len(r.Objects) == 0 {
		fmt.Fprintf(out, "---\n%s: no objects\n", title)
	}
	for _, obj := range r.Objects {
		text, err := yamlOf(obj)
		if err != nil {
			return fmt.Errorf("%s: %w", deploy.RefOf(obj), err)
		}
		fmt.Fprintf(out, "---\n%s\n%s", title, text)
	}
	return nil
}

// shownLines is how many lines of a difference are shown around it.
const shownLines = 3

// difference shows the lines between the first and the last that differ, with some around them.
func difference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	var out strings.Builder
	lines := func(mark string, lines []string) {
		for _, line := range lines {
			out.WriteString(mark + line + "\n")
		}
	}
	lines("  ", a[max(0, start-shownLines):start])
	lines("- ", a[start:len(a)-end])
	lines("+ ", b[start:len(b)-end])
	lines("  ", a[len(a)-end:min(len(a), len(a)-end+shownLines)])
	return out.String()
}
