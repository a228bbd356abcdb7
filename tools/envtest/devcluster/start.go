package devcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	// startTimeout bounds the start of a cluster, which takes three seconds on two idle cores.
	startTimeout = 2 * time.Minute
	// poll is the interval at which the state of a starting or ending cluster is checked.
	poll = 10 * time.Millisecond
)

// StartOptions configures the cluster that [Start] runs. The zero value is usable.
type StartOptions struct {
	// Progress receives the progress of a build of the program. If it is nil, no progress is written.
	Progress io.Writer
	// CRDs are files or folders with definitions to install before the controllers start.
	CRDs []string
	// Flags are further flags of `devcluster up`.
	Flags []string
}

// Start runs a cluster with an audit log in a new folder with a short path, and waits until the cluster is ready. The
// cluster ends by [Cluster.Stop], or with the calling process, however that process ends. The end of ctx ends only the
// start. If a process ends without calling Stop, the next Start on the machine removes the folder. Start leaves no
// goroutine running.
func Start(ctx context.Context, options StartOptions) (*Cluster, error) {
	binary, err := Binary(ctx, options.Progress)
	if err != nil {
		return nil, err
	}
	home, owner, err := newHome(ctx)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	args := []string{"up", "--dir", home.cluster(), "--until-eof", "--audit"}
	for _, path := range options.CRDs {
		args = append(args, "--crds", path)
	}
	s, err := supervise(home, owner, binary, append(args, options.Flags...))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cluster: %w", err), home.remove(), owner.Release())
	}
	timed, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := s.ready(timed); err != nil {
		return nil, errors.Join(err, s.stop(context.WithoutCancel(ctx)))
	}
	return &Cluster{dir: home.cluster(), progress: options.Progress, program: binary, supervisor: s}, nil
}

// ready waits until the cluster is ready, and returns an error if it has ended.
func (s *supervisor) ready(ctx context.Context) error {
	for {
		if state, err := readState(s.home.cluster()); err == nil && state.Ready {
			return nil
		}
		if ended, how := s.ended(); ended {
			return fmt.Errorf("cluster: devcluster up ended before it was ready: %s\n%s", how, s.home.tail())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("cluster: not ready: %w\n%s", context.Cause(ctx), s.home.tail())
		case <-time.After(poll):
		}
	}
}
