package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/tools/envtest/audit"
)

const (
	// buildDeadline is the time limit for a step that may have to build a program.
	buildDeadline = time.Hour
	// stepDeadline is the time limit for every other step, which takes a few seconds on an idle machine.
	stepDeadline = time.Minute
	// redraw is the interval at which the picture is redrawn even if nothing happens.
	redraw = 100 * time.Millisecond
)

// step is one step of the demo.
type step struct {
	name, does string
	deadline   time.Duration
	act        func(ctx context.Context) error
	// wrote checks the operator's calls in the step; nil accepts any calls.
	wrote func(audit.Calls) error
}

func (d *demo) play(ctx context.Context) error {
	d.narrator.say("A guestbook operator made with operkit, on a real Kubernetes API server.")
	d.narrator.say("Pods are simulated by kwok: scheduled, then Ready; no container runs.")
	for i, s := range d.steps() {
		err := d.narrator.err
		if err == nil {
			err = d.playStep(ctx, s)
		}
		if err == nil {
			err = d.rest(ctx)
		}
		if err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, s.name, err)
		}
	}
	return nil
}

func (d *demo) playStep(ctx context.Context, s step) error {
	d.narrator.step(len(d.rows)+1, s.name, s.does)
	began := time.Now()
	timed, cancel := context.WithTimeoutCause(ctx, s.deadline, fmt.Errorf("it didn't come true within %s", s.deadline))
	defer cancel()
	if err := s.act(timed); err != nil {
		return d.explain(timed, err)
	}
	r := row{step: s.name, took: time.Since(began)}
	if d.meter != nil {
		if err := d.account(ctx, s, &r); err != nil {
			return d.explain(ctx, err)
		}
	}
	d.rows = append(d.rows, r)
	return nil
}

// account waits until the operator is at rest, and counts and checks its calls in the step.
func (d *demo) account(ctx context.Context, s step, r *row) error {
	calls, err := d.meter.lap(ctx)
	if err != nil {
		return err
	}
	if err := d.tell(); err != nil {
		return err
	}
	r.counted, r.reads, r.writes = true, len(calls.Reads()), len(calls.Writes())
	d.watches += len(calls.Watches())
	d.narrator.remark(faint, "operator", asked(calls))
	if s.wrote == nil {
		return nil
	}
	return s.wrote(calls)
}

// explain adds the end of the operator's log to the reason of a failure.
func (d *demo) explain(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	if d.operator == nil || errors.Is(ctx.Err(), context.Canceled) { // an interrupt needs no explanation
		return err
	}
	return fmt.Errorf("%w\nthe end of the operator's log:\n%s", err, d.operator.tail())
}

// rest pauses for the reader.
func (d *demo) rest(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d.options.pause):
		return nil
	}
}

// until narrates events until nothing is missing any more.
func (d *demo) until(ctx context.Context, missing func(*board) string) error {
	ticker := time.NewTicker(redraw)
	defer ticker.Stop()
	for {
		if err := d.tell(); err != nil {
			return err
		}
		lacks := missing(d.board)
		if lacks == "" {
			d.draw("")
			return nil
		}
		d.draw("waiting until " + lacks)
		select {
		case <-d.feed.ready:
		case <-ticker.C:
		case <-d.operator.ended:
			return d.operator.alive()
		case <-ctx.Done():
			return fmt.Errorf("waited until %s: %w", lacks, context.Cause(ctx))
		}
	}
}

// tell narrates the events that have arrived. It returns an error if the output can't be written.
func (d *demo) tell() error {
	for _, event := range d.feed.take() {
		notes, err := d.board.observe(event)
		if err != nil {
			return err
		}
		for _, n := range notes {
			d.narrator.note(n.colour, n.subject, n.text)
		}
	}
	return d.narrator.err
}

func (d *demo) draw(doing string) {
	n := d.narrator
	if doing != "" {
		doing = fmt.Sprintf("%.1f s, %s", n.elapsed().Seconds(), doing)
	}
	n.show(d.board.picture(n.screen, n.room(), doing))
}
