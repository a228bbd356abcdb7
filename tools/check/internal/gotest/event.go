package gotest

import (
	"bytes"
	"encoding/json"
)

// Event is one line of the output of go test -json; see go doc test2json and go help buildjson.
type Event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Output      string
	FailedBuild string
}

// ParseEvent reads one line. A line that is no event, which the go command prints in rare cases, gives false.
func ParseEvent(line []byte) (Event, bool) {
	var event Event
	if !bytes.HasPrefix(line, []byte("{")) || json.Unmarshal(line, &event) != nil {
		return Event{}, false
	}
	return event, event.Action != ""
}

// lines is an io.Writer that hands on what is written line by line.
type lines struct {
	partial []byte
	each    func(line []byte)
}

func (l *lines) Write(p []byte) (int, error) {
	l.partial = append(l.partial, p...)
	for {
		end := bytes.IndexByte(l.partial, '\n')
		if end < 0 {
			return len(p), nil
		}
		l.each(l.partial[:end])
		l.partial = l.partial[end+1:]
	}
}

// flush hands on what came after the last line break.
func (l *lines) flush() {
	if len(l.partial) > 0 {
		l.each(l.partial)
		l.partial = nil
	}
}
