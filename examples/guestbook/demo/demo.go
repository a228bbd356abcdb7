package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// cleanupDeadline is the time limit for stopping everything.
const cleanupDeadline = time.Minute

// demo is one run of the program, and what it has started so far.
type demo struct {
	narrator *narrator
	options  options
	progress io.Writer
	work     string // the folder for everything that the run needs

	source   string // the folder of the guestbook
	plane    *controlPlane
	api      *connection
	operator *operatorProcess
	feed     *feed
	board    *board
	meter    *meter
	sample   *unstructured.Unstructured

	rows    []row
	watches int
}

// show runs all steps, and in any case stops everything that they have started.
func show(ctx context.Context, n *narrator, o options, progress io.Writer) error {
	work, err := workFolder()
	if err != nil {
		return err
	}
	d := &demo{narrator: n, options: o, progress: progress, work: work, feed: newFeed()}
	err = d.play(ctx)
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupDeadline)
	defer cancel()
	if err != nil {
		n.show(nil)
	}
	kept := o.keep && d.plane != nil && ctx.Err() == nil
	err = errors.Join(err, d.close(cleanup, kept))
	if err == nil {
		d.conclude()
		err = n.err
	}
	if kept {
		d.tellHowToLookAround()
	}
	return err
}

// workFolder makes the folder of this run. Its path is short: there are unix sockets below
// it, whose paths are limited to some hundred bytes.
func workFolder() (string, error) {
	base := os.TempDir()
	if len(base) > 40 {
		base = "/tmp"
	}
	folder, err := os.MkdirTemp(base, "guestbook-demo-")
	if err != nil {
		return "", fmt.Errorf("folder for the demo: %w", err)
	}
	return folder, nil
}
