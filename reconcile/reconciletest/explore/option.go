package explore

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/operkit/operkit/reconcile/internal/optional"
	"github.com/operkit/operkit/reconcile/reconciletest"
)

// Option is an option of Run and Drive. nil is ignored.
type Option func(*options)

type options struct {
	definitions, samples []string
	harness              []reconciletest.Option
	states, findings     int
	limit                time.Duration
	timed, neighbours    bool
	leaves, ignores      []string
	ignored              []exception
	properties           []property
	seed                 uint64
	replay               string
	corpus, picture      string
	// patience is how long an execution may do nothing.
	patience time.Duration
	// enough ends an exploration early, in tests.
	enough func(r report) bool
}

// Definitions adds CustomResourceDefinitions, from files and folders, see reconciletest.Definitions. They also say
// which changes of a resource are valid. At least one path is needed.
func Definitions(paths ...string) Option {
	return func(o *options) { o.definitions = append(o.definitions, paths...) }
}

// Samples adds resources, from YAML and JSON files and folders of them: those of the controller's kind are explored,
// one after the other. At least one path is needed.
func Samples(paths ...string) Option {
	return func(o *options) { o.samples = append(o.samples, paths...) }
}

// Harness adds options of the harness, such as the objects of others that the operator needs (reconciletest.Memory).
// Further controllers (reconciletest.Also) aren't made anew: they must not remember anything.
func Harness(opts ...reconciletest.Option) Option {
	return func(o *options) { o.harness = append(o.harness, opts...) }
}

// States sets how many states are visited at most; default 5000. A state is the cluster after one reconcile.
func States(n int) Option { return func(o *options) { o.states = n } }

// For ends an exploration after a real time, instead of a number of states: then two runs don't find the same. With
// States as well, the exploration ends at whichever comes first. Findings are made smaller after that. A replay isn't
// ended.
func For(d time.Duration) Option {
	return func(o *options) { o.limit, o.timed = d, true }
}

// Findings sets after how many findings an exploration ends; default 5.
func Findings(n int) Option { return func(o *options) { o.findings = n } }

// Leaves names kinds, such as PersistentVolumeClaim, of which objects may stay after an edit that is undone or a
// deletion, because they hold data. When somebody deletes such an object, it has to come back only in the step that
// creates the resource.
func Leaves(kinds ...string) Option {
	return func(o *options) { o.leaves = append(o.leaves, kinds...) }
}

// Seed sets the number that the random walks follow from; default 1.
func Seed(seed uint64) Option { return func(o *options) { o.seed = seed } }

// Replay runs only what a finding says after "replay:".
func Replay(plan string) Option { return func(o *options) { o.replay = plan } }

// Corpus keeps findings in a folder, such as testdata/explore, one file each. Each Run replays them first, so that a
// finding that was mended stays a test; these replays don't count as states. A new finding is written to a new file of
// the folder, which is made if needed. Without this option nothing is written. A file whose sample, edit or request no
// longer exists is an error.
func Corpus(folder string) Option { return func(o *options) { o.corpus = folder } }

// Picture draws the states that were reached into an SVG file. It makes the folder if needed, and replaces the file.
// Equal states are one. Of more than 60 states, those on the way to a finding come first, then those without a
// disturbance.
func Picture(file string) Option { return func(o *options) { o.picture = file } }

// byDefault are the states of an exploration without the option States.
const byDefault = math.MinInt

func newOptions(opts []Option) (options, error) {
	o := options{states: byDefault, findings: 5, seed: 1, patience: time.Minute}
	optional.Apply(&o, opts)
	switch {
	case o.states != byDefault:
	case o.timed:
		o.states = math.MaxInt
	default:
		o.states = 5000
	}
	for _, text := range o.ignores {
		p, err := parseException(text)
		if err != nil {
			return o, err
		}
		o.ignored = append(o.ignored, p)
	}
	for _, p := range o.properties {
		if err := p.check(); err != nil {
			return o, err
		}
	}
	return o, o.check()
}

func (o options) check() error {
	switch {
	case len(o.definitions) == 0:
		return errors.New("definitions: missing: give the folder with the CustomResourceDefinitions by Definitions")
	case len(o.samples) == 0:
		return errors.New("samples: missing: give a file or folder with resources by Samples")
	case o.states < 1:
		return fmt.Errorf("states: %d: at least 1 is needed", o.states)
	case o.findings < 1:
		return fmt.Errorf("findings: %d: at least 1 is needed", o.findings)
	case o.timed && o.limit <= 0:
		return fmt.Errorf("for: %s: give a time greater than 0", o.limit)
	}
	return nil
}
