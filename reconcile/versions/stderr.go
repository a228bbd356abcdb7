package versions

import (
	"bufio"
	"io"
	"strings"
	"sync"
)

// longestLine is how much of a line on the standard error is kept.
const longestLine = 4 << 10

// log passes on what the process writes to its standard error.
func (l *life) log(stderr io.Reader) {
	logger := l.pool.options.Logger.With("version", l.version.name, "stream", "stderr")
	in := bufio.NewReaderSize(stderr, longestLine)
	for cut := false; ; {
		line, more, err := in.ReadLine()
		if len(line) > 0 && !cut {
			text := strings.ToValidUTF8(string(line), "\ufffd")
			l.last.add(text)
			logger.Info(text)
		}
		if cut = more; err != nil {
			return
		}
	}
}

// lastLines are the last few lines of something.
type lastLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *lastLines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	const kept = 5
	if l.lines = append(l.lines, line); len(l.lines) > kept {
		l.lines = l.lines[1:]
	}
}

func (l *lastLines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "; ")
}
