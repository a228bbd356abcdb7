package program

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/tools/hooks/internal/limits"
	"github.com/operkit/operkit/tools/hooks/internal/text"
)

// ExitError reports that a process has ended without a response, or with another exit code than zero.
type ExitError struct {
	// Hook is the command.
	Hook string
	// Reason says how the process has ended, such as "exit status 1".
	Reason string
	// Text is the end of what the process has written to its standard error, in one line.
	Text string
}

// Error names the end of the process and what it has written.
func (e *ExitError) Error() string {
	message := fmt.Sprintf("hook %s: it has ended: %s", e.Hook, e.Reason)
	if e.Text != "" {
		message += ": " + e.Text
	}
	return message
}

// exited returns the error for a process that has ended.
func (p *running) exited() error {
	reason := "without a response"
	if err := p.Err(); err != nil {
		reason = err.Error()
	}
	return &ExitError{p.name, reason, p.says()}
}

// says returns the end of what the process has written to its standard error, in one line.
func (p *running) says() string { return text.OneLine(p.Text(), limits.Text) }

// failed returns the error of a call that has failed because of err, or because its context has ended.
func (p *running) failed(ctx context.Context, err error) error {
	var late *limits.TimeoutError
	var size *limits.SizeError
	var exit *ExitError
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	switch {
	case errors.As(err, &exit):
		return err
	case !errors.As(err, &late) && !errors.As(err, &size):
		err = fmt.Errorf("hook %s: %w", p.name, err)
	}
	if said := p.says(); said != "" {
		err = fmt.Errorf("%w: it has written: %s", err, said)
	}
	return err
}

// RestError reports that a process has ended too often, so that it isn't started again before some time.
type RestError struct {
	// Hook is the command.
	Hook string
	// RetryAfter is the time until it may be started again.
	RetryAfter time.Duration
	// Err is the error after which it rests.
	Err error
}

// Error names the time and the error.
func (e *RestError) Error() string {
	return fmt.Sprintf("hook %s: it is started again in %s: %v", e.Hook, e.RetryAfter.Round(time.Millisecond), e.Err)
}

// Unwrap returns Err.
func (e *RestError) Unwrap() error { return e.Err }
