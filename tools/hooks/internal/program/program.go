package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/tools/hooks/internal/limits"
	"github.com/operkit/operkit/tools/hooks/internal/process"
)

// Config says how a program is run. Only Command is required.
type Config struct {
	// Command is the program and its arguments. A program without a slash is searched in PATH; a relative one is
	// relative to Dir.
	Command []string
	// Dir is the working folder, empty for the present one.
	Dir string
	// Env is the environment, each entry in the form NAME=value. PATH, HOME, LANG and TMPDIR of this process are added
	// where they are missing, and nothing else.
	Env []string
	// Timeout bounds the time of a call. Zero means limits.Timeout.
	Timeout time.Duration
	// Memory bounds the memory in which a process may write, in bytes, for each of its processes alone; zero means
	// process.Memory. It needs the program sh, and has no effect on other systems than Linux.
	Memory int64
	// MaxResponse bounds the size of a response, in bytes. Zero means limits.Response.
	MaxResponse int64
	// Stays: a process answers many calls, one after the other. A request is a line of JSON on its standard input, and
	// the response a line on its standard output. A process that has written more than one line before the next call is
	// ended, and that call fails. A line that it writes during a call is taken for its response, also if the process
	// means an earlier one.
	Stays bool
	// Processes is how many processes stay. Zero means one. Without Stays, each call has a process of its own.
	Processes int
}

// Program is a hook that is a program. It is safe for concurrent use.
type Program struct {
	config Config
	// residents are the processes that stay, of which each is for one call at a time.
	residents chan *resident
	// retires ends processes without calls.
	retires *time.Timer
}

// New returns a Program. It starts nothing. The processes that stay end when ctx ends. A program that isn't there is an
// error.
func New(ctx context.Context, config Config) (*Program, error) {
	if len(config.Command) == 0 || config.Command[0] == "" {
		return nil, errors.New("hook: no command: name a program")
	}
	name := strings.Join(config.Command, " ")
	if config.Timeout < 0 || config.Memory < 0 || config.MaxResponse < 0 || config.Processes < 0 {
		return nil, fmt.Errorf("hook %s: negative limit", name)
	}
	path := config.Command[0]
	if strings.Contains(path, "/") && !filepath.IsAbs(path) {
		path = filepath.Join(config.Dir, path)
	}
	found, err := exec.LookPath(path)
	if err == nil {
		found, err = filepath.Abs(found)
	}
	if err != nil {
		return nil, fmt.Errorf("hook %s: %w: install it, or name another program", name, err)
	}
	config.Command = append([]string{found}, config.Command[1:]...)
	config.Env = environment(config.Env)
	if config.Timeout == 0 {
		config.Timeout = limits.Timeout
	}
	if config.MaxResponse == 0 {
		config.MaxResponse = limits.Response
	}
	p := &Program{config: config}
	if config.Stays {
		p.residents = make(chan *resident, max(config.Processes, 1))
		for range cap(p.residents) {
			p.residents <- &resident{config: &p.config}
		}
		p.retires = time.AfterFunc(idle, func() {
			p.retire()
			if ctx.Err() == nil {
				p.retires.Reset(idle)
			}
		})
		context.AfterFunc(ctx, p.end)
	}
	return p, nil
}

// end ends all processes that stay, when their calls have ended, which have contexts of their own.
func (p *Program) end() {
	p.retires.Stop()
	for range cap(p.residents) {
		r := <-p.residents
		r.end()
	}
}

// retire ends the processes that have had no call for a while.
func (p *Program) retire() {
	for range cap(p.residents) {
		select {
		case r := <-p.residents:
			if time.Since(r.called) >= idle {
				r.end()
			}
			p.residents <- r
		default: // the others are in a call
		}
	}
}

// Call sends a request and returns the response. The error names the command: it is a *limits.TimeoutError, a
// *limits.SizeError, an *ExitError for a process that has ended, or a *RestError for one that is about to be started
// again. subject has no meaning.
func (p *Program) Call(ctx context.Context, _ string, body []byte) ([]byte, error) {
	if p.residents == nil {
		return p.config.inTime(ctx, func(ctx context.Context) ([]byte, error) { return p.config.once(ctx, body) })
	}
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("hook %s: %w", p.config.name(), context.Cause(ctx))
	case r := <-p.residents:
		defer func() {
			r.called = time.Now()
			p.residents <- r
		}()
		return p.config.inTime(ctx, func(ctx context.Context) ([]byte, error) { return r.call(ctx, body) })
	}
}

// inTime bounds the time of a call. The cause of the end of its context is a *limits.TimeoutError then.
func (c *Config) inTime(ctx context.Context, call func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	limited, cancel := context.WithTimeoutCause(ctx, c.Timeout, &limits.TimeoutError{Hook: c.name(), Limit: c.Timeout})
	defer cancel()
	return call(limited)
}

// running is a process of a hook.
type running struct {
	*process.Process
	name string
}

// start starts a process.
func (c *Config) start() (*running, error) {
	p, err := process.Start(process.Spec{Command: c.Command, Dir: c.Dir, Env: c.Env, Memory: c.Memory})
	if err != nil {
		return nil, fmt.Errorf("hook %s: %w", c.name(), err)
	}
	return &running{p, c.name()}, nil
}

// name returns the command as a person would type it.
func (c *Config) name() string { return strings.Join(c.Command, " ") }

// environment adds what is needed to run programs.
func environment(given []string) []string {
	all := slices.Clone(given)
	for _, name := range []string{"PATH", "HOME", "LANG", "TMPDIR"} {
		isGiven := slices.ContainsFunc(given, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
		if value, ok := os.LookupEnv(name); ok && !isGiven {
			all = append(all, name+"="+value)
		}
	}
	return all
}
