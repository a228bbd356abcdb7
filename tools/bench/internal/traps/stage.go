package traps

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	v1 "github.com/operkit/operkit/tools/bench/api/v1"
	"github.com/operkit/operkit/tools/bench/internal/faults"
	"github.com/operkit/operkit/tools/bench/internal/measure"
	"github.com/operkit/operkit/tools/bench/internal/plane"
	"github.com/operkit/operkit/tools/bench/internal/program"
	"github.com/operkit/operkit/tools/bench/release"
	"github.com/operkit/operkit/tools/envtest/audit"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
)

// stage is a control plane and the operator that works on it. Its methods may be called concurrently, except for
// restart and close.
type stage struct {
	settings   measure.Settings
	operator   string
	log        string
	plane      *plane.Plane
	children   kubernetes.Interface
	bundles    dynamic.ResourceInterface
	metadata   metadata.Interface
	proxy      *faults.Proxy
	kubeconfig string
	process    *program.Process
	// secrets delays the operator's events of Secrets, and race edits objects before its writes.
	secrets *gate
	race    *race

	// restarted is the mark at the last start.
	restarted int
	editions  atomic.Int64

	mu   sync.Mutex
	tail *plane.Tail
	seen audit.Calls
}

// newStage starts a control plane, and a proxy in front of it for the operator.
func newStage(ctx context.Context, s measure.Settings, operator string, progress io.Writer) (*stage, error) {
	p, err := plane.Start(ctx, s.Definitions, progress)
	if err != nil {
		return nil, err
	}
	st := &stage{
		settings: s, operator: operator, log: filepath.Join(s.Logs, operator+".traps.log"), plane: p,
		secrets: newGate("secrets"), race: newRace(conflictingBundle),
	}
	if err := st.connect(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", operator, err), st.close(ctx))
	}
	return st, nil
}

func (st *stage) connect(ctx context.Context) (err error) {
	if st.children, err = kubernetes.NewForConfig(st.plane.Admin); err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(st.plane.Admin)
	if err != nil {
		return err
	}
	st.bundles = client.Resource(v1.GroupVersion.WithResource("bundles")).Namespace(plane.Namespace)
	if st.metadata, err = metadata.NewForConfig(st.plane.Admin); err != nil {
		return err
	}
	st.race.client = st.children.CoreV1().RESTClient()
	hooks := faults.Hooks{Fault: st.race.before, Answer: func(r *http.Response) error {
		st.race.after(r)
		st.secrets.guard(r)
		return nil
	}}
	if st.proxy, err = faults.Start(st.plane.Admin, hooks); err != nil {
		return err
	}
	if st.kubeconfig, err = st.plane.Kubeconfig(ctx, st.operator, st.proxy.Address()); err != nil {
		return err
	}
	st.tail, err = st.plane.Follow(ctx, st.operator)
	return err
}

// restart stops the operator and starts one of its releases.
func (st *stage) restart(ctx context.Context, number int) error {
	if err := st.stop(); err != nil {
		return err
	}
	mark, err := st.mark(ctx)
	if err != nil {
		return err
	}
	st.restarted = mark
	path := filepath.Join(st.settings.Programs, st.operator)
	environment := []string{release.Variable + "=" + strconv.Itoa(number)}
	arguments := measure.Arguments(st.operator, st.kubeconfig)
	process, err := program.StartWith(context.WithoutCancel(ctx), path, st.log, environment, arguments...)
	if err != nil {
		return err
	}
	st.process = process
	return nil
}

func (st *stage) stop() error {
	if st.process == nil {
		return nil
	}
	_, err := st.process.Stop()
	st.process = nil
	return err
}

// close ends everything.
func (st *stage) close(ctx context.Context) error {
	st.secrets.open()
	err := st.stop()
	if st.proxy != nil {
		err = errors.Join(err, st.proxy.Stop())
	}
	return errors.Join(err, st.plane.Stop(ctx))
}
