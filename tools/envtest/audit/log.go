package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// poll is the interval at which [Log.Await] reads the log.
const poll = 2 * time.Millisecond

// Log is an audit log in one file of JSON lines that an API server appends to. It may be used concurrently.
type Log struct {
	// Path is the file.
	Path string
}

// Position is a place between two lines of a log. The zero value is its beginning.
type Position struct {
	// Offset is in bytes.
	Offset int64
	// Received is when the API server got the request of the line before this position, by the server's clock.
	Received time.Time
}

// Match selects the calls of any of the users and all calls in the namespace.
type Match struct {
	// Users are user names, compared with Call.User.
	Users []string
	// Namespace selects all calls in that namespace, whoever sent them. If it is empty, it selects none.
	Namespace string
}

// End returns the position after the present end of the log. Lines of requests that were answered a moment ago can
// still be missing; see [Log.Await].
func (l Log) End() (Position, error) {
	info, err := os.Stat(l.Path)
	if errors.Is(err, os.ErrNotExist) {
		return Position{}, nil // the API server creates the file with its first line
	}
	if err != nil {
		return Position{}, fmt.Errorf("audit log: %w", err)
	}
	return Position{Offset: info.Size()}, nil
}

// Await waits until an answered request for an object of this name is in the log after the position from. It returns
// the position after that request.
func (l Log) Await(ctx context.Context, from Position, name string) (Position, error) {
	at := from.Offset
	for {
		found, end, err := l.find(at, name)
		if err != nil || found != nil {
			return Position{Offset: end, Received: found.received()}, err
		}
		at = end
		select {
		case <-ctx.Done():
			return Position{}, fmt.Errorf("audit log %s: no request for %s in it: %w", l.Path, name, context.Cause(ctx))
		case <-time.After(poll):
		}
	}
}

func (e *Event) received() time.Time {
	if e == nil {
		return time.Time{}
	}
	return e.Received
}

// find returns the first answered request for an object of this name. It reads the complete lines that follow the
// offset at. end is the offset at which it stopped.
func (l Log) find(at int64, name string) (found *Event, end int64, err error) {
	needle := quoted(name)
	end, err = l.lines(at, -1, func(text []byte) (bool, error) {
		if !bytes.Contains(text, needle) {
			return true, nil
		}
		event, err := Parse(text)
		if err != nil {
			return false, err
		}
		if event.Name != name || event.Stage != ResponseComplete {
			return true, nil
		}
		found = &event
		return false, nil
	})
	return found, end, err
}

// Calls returns the wanted calls between two positions, each once, in the order of their lines. An ordinary request is
// logged when it was answered. A watch is logged when it began, or, if the log doesn't record that, when it ended.
func (l Log) Calls(from, to Position, want Match) (Calls, error) {
	var calls Calls
	started := map[string]bool{}
	needles := [][]byte{}
	for _, user := range want.Users {
		needles = append(needles, quoted(user))
	}
	if want.Namespace != "" {
		needles = append(needles, quoted(want.Namespace))
	}
	_, err := l.lines(from.Offset, to.Offset, func(text []byte) (bool, error) {
		if !slices.ContainsFunc(needles, func(needle []byte) bool { return bytes.Contains(text, needle) }) {
			return true, nil // in a shared cluster most lines are about other tests: parsing them would take time
		}
		event, err := Parse(text)
		if err != nil {
			return false, err
		}
		if want.has(event.Call) && counts(event, started, from) {
			calls = append(calls, event.Call)
		}
		return true, nil
	})
	return calls, err
}

func (m Match) has(call Call) bool {
	return slices.Contains(m.Users, call.User) || m.Namespace != "" && call.Namespace == m.Namespace
}

// counts reports whether Calls counts the event. A long-running request has two events, at its start and at its end,
// and the start counts. The end counts only if the start wasn't seen and isn't before from.
func counts(event Event, started map[string]bool, from Position) bool {
	switch event.Stage {
	case ResponseStarted:
		started[event.ID] = true
		return true
	case ResponseComplete, Panic:
		return !started[event.ID] && (!event.IsWatch() || !event.Received.Before(from.Received))
	}
	return false
}

// lines reads the complete lines between two offsets and calls the function each for them. If to is -1, it reads to the
// end of the file. It stops early at an incomplete line, or when each returns false or an error. It returns the offset
// after the last line that it has read. A missing file has no lines.
func (l Log) lines(from, to int64, each func(text []byte) (bool, error)) (end int64, err error) {
	file, err := os.Open(l.Path)
	if errors.Is(err, os.ErrNotExist) && from == 0 {
		return 0, nil
	}
	if err != nil {
		return from, fmt.Errorf("audit log: %w", err)
	}
	defer func() { _ = file.Close() }() // only read
	info, err := file.Stat()
	if err != nil {
		return from, fmt.Errorf("audit log: %w", err)
	}
	if to < 0 {
		to = info.Size()
	}
	if from > info.Size() || to > info.Size() {
		return from, fmt.Errorf("audit log %s: it is shorter (%d bytes) than when it was last read: it was replaced", l.Path, info.Size())
	}
	reader := bufio.NewReaderSize(io.NewSectionReader(file, from, to-from), 1<<16)
	for end = from; ; {
		text, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return end, nil
		}
		if err != nil {
			return end, fmt.Errorf("audit log %s: %w", l.Path, err)
		}
		end += int64(len(text))
		more, err := each(text)
		if err != nil {
			return end, fmt.Errorf("audit log %s before byte %d: %w", l.Path, end, err)
		}
		if !more {
			return end, nil
		}
	}
}

// quoted returns a string as JSON writes it.
func quoted(value string) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		return []byte(value) // a string always has a JSON form
	}
	return text
}
