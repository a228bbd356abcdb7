package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/operkit/operkit/dag"
)

// progress prints a line for each finished target, and the output of failed commands.
type progress struct {
	out         io.Writer
	done, total int
}

// observe is called from one goroutine.
func (p *progress) observe(e dag.Event) {
	switch e.Kind {
	case dag.EventFinished:
		took := e.Duration.Round(time.Millisecond)
		if e.Err == nil {
			p.line(e.Name, fmt.Sprintf("done in %s", took))
			return
		}
		p.line(e.Name, fmt.Sprintf("FAILED after %s: %v", took, e.Err))
		var failed *commandError
		if errors.As(e.Err, &failed) && failed.output != "" {
			p.print("    " + strings.ReplaceAll(failed.output, "\n", "\n    ") + "\n")
		}
	case dag.EventBlocked:
		p.line(e.Name, "not built: "+e.Reason)
	case dag.EventStarted, dag.EventWaiting:
	}
}

func (p *progress) line(name, text string) {
	p.done++
	p.print(fmt.Sprintf("[%d/%d] %s: %s\n", p.done, p.total, name, text))
}

// print ignores errors: nobody is left to read them.
func (p *progress) print(text string) { _, _ = io.WriteString(p.out, text) }
