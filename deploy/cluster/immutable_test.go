package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The cluster in memory refuses the changes that a real API server refuses, for the same fields and in the same words,
// and no others. Each field of the manifests in testdata/immutable is changed, taken away, and set later, by an apply
// and by a replacement. Left out is what a server doesn't take as a new object either: that isn't a matter of changes.
func TestImmutableFields(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "immutable", "*.yaml"))
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(files), 25, "kinds")
	var names, fields, verdicts atomic.Int64
	t.Run("kinds", func(t *testing.T) {
		for _, file := range files {
			kind := strings.TrimSuffix(filepath.Base(file), ".yaml")
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				options := []envtest.Option{envtest.Rights(everything)}
				if kind == "PersistentVolumeClaim" {
					// A default StorageClass is set in each claim that has none, which the cluster in memory doesn't do.
					options = append(options, envtest.OwnCluster("--components=etcd,apiserver"))
				}
				env := envtest.Start(t, options...)
				server := newCluster(t, env.Config)
				memory, err := dryrun.New(dryrun.Namespaces(env.Namespace))
				require.NoError(t, err)
				for i, manifest := range strings.Split(string(text), "\n---\n") {
					p := &prober{
						T: t, server: server.Port(), memory: memory.Port(),
						namespace: env.Namespace, names: &names, manifest: manifest,
					}
					p.run(immutablePatches[fmt.Sprintf("%s %d", kind, i+1)])
					fields.Add(p.fields)
					verdicts.Add(p.verdicts)
				}
			})
		}
	})
	t.Logf("verdicts of a real API server that the cluster in memory gave too: %d", verdicts.Load())
	t.Logf("COUNT immutable-fields %d", fields.Load())
}

// prober compares what a server and a cluster in memory say of changes of one manifest.
type prober struct {
	*testing.T
	server, memory deploy.Port
	namespace      string
	manifest       string
	names          *atomic.Int64
	// fields and verdicts count what was compared.
	fields, verdicts int64
}

// fieldEdit is one change of an object, at a path if it is one of a single field.
type fieldEdit struct {
	what string
	path fieldPath
	do   func(obj map[string]any)
}

// fresh is the manifest under a name of its own.
func (p *prober) fresh() *unstructured.Unstructured {
	p.Helper()
	n := p.names.Add(1)
	obj := object(p, "", strings.NewReplacer(
		"NAMESPACE", p.namespace, "NAME", fmt.Sprintf("%s-%d", p.namespace, n),
		"ADDRESS", fmt.Sprintf("198.18.%d.%d", n/256, n%256),
	).Replace(p.manifest))
	scope, err := p.server.Scope(p.Context(), obj.GroupVersionKind())
	require.NoError(p, err)
	if scope == deploy.Namespaced {
		obj.SetNamespace(p.namespace)
	}
	return obj
}

func (p *prober) run(patches []string) {
	base := p.fresh()
	require.NoError(p, p.tryNew(base))
	paths := fieldPaths(base.Object)
	var edits []fieldEdit
	for _, path := range paths {
		found := len(edits)
		edits = p.appendValid(edits, base, removal(path))
		for _, change := range changes(base.Object, path) {
			before := len(edits)
			if edits = p.appendValid(edits, base, change); len(edits) > before {
				break
			}
		}
		if len(edits) > found {
			p.fields++
		}
	}
	for _, patch := range patches {
		e := patching(p, patch)
		require.NoError(p, p.tryNew(edited(base, e)), "what no new object may be is no change to try: %s", patch)
		edits = append(edits, e)
	}
	for _, path := range paths {
		p.nonsense(base, path)
	}
	p.create(base)
	for _, e := range edits {
		p.compare(base, e)
	}
	for _, path := range paths {
		p.later(path)
	}
}

// nonsense puts a word that means nothing into a field of a new object. A server that has a list of words for the field
// refuses it, and so does the cluster in memory then.
func (p *prober) nonsense(base *unstructured.Unstructured, path fieldPath) {
	p.Helper()
	if _, isText := path.of(base.Object).(string); !isText || base.GetKind() == "CustomResourceDefinition" {
		return // what definitions say is judged in other words in memory
	}
	obj := edited(base, fieldEdit{do: func(obj map[string]any) { path.replace(obj, "Nonsense") }})
	refusal := p.tryNew(obj)
	want := unlisted(refusal)
	if refusal != nil && len(want) == 0 {
		return // refused for another reason
	}
	_, err := p.memory.Create(p.Context(), obj, deploy.CreateOptions{DryRun: true})
	if got := unlisted(err); !slices.Equal(want, got) {
		p.Errorf("%s of no meaning:\nthe server refuses: %q\nin memory:          %q", path, want, got)
	}
	p.verdicts++
}

// unlisted are the fields whose value isn't on the list for them.
func unlisted(err error) []string {
	var fields []string
	for _, cause := range judgement(err) {
		if field, _, found := strings.Cut(cause, ": Unsupported value: "); found {
			fields = append(fields, strings.Replace(field, "metadata.taints", "spec.taints", 1)) // a server's mistake
		}
	}
	return slices.Compact(fields)
}

// later sets a field of an object that was made without it.
func (p *prober) later(path fieldPath) {
	full := p.fresh()
	lacking := edited(full, removal(path))
	if full.GetKind() == "CustomResourceDefinition" || !p.valid(lacking) { // each would be a kind of its own
		return
	}
	p.create(lacking)
	p.compare(lacking, setting(path, path.of(full.Object)))
}

func (p *prober) appendValid(edits []fieldEdit, base *unstructured.Unstructured, e fieldEdit) []fieldEdit {
	if p.valid(edited(base, e)) {
		return append(edits, e)
	}
	return edits
}

func edited(obj *unstructured.Unstructured, e fieldEdit) *unstructured.Unstructured {
	next := obj.DeepCopy()
	e.do(next.Object)
	return next
}

// valid reports whether the server would take an object as a new one.
func (p *prober) valid(obj *unstructured.Unstructured) bool {
	p.Helper()
	err := p.tryNew(obj)
	var invalid *deploy.InvalidError
	var forbidden *deploy.ForbiddenError
	var unavailable *deploy.UnavailableError // some of what isn't valid makes a server stumble
	if !errors.As(err, &invalid) && !errors.As(err, &forbidden) && !errors.As(err, &unavailable) {
		require.NoError(p, err)
	}
	return err == nil
}

func (p *prober) tryNew(obj *unstructured.Unstructured) error {
	_, err := p.server.Create(p.Context(), obj, deploy.CreateOptions{DryRun: true})
	return err
}

func (p *prober) create(obj *unstructured.Unstructured) {
	p.Helper()
	for _, port := range []deploy.Port{p.server, p.memory} {
		_, err := port.Apply(p.Context(), obj, deploy.ApplyOptions{FieldManager: "operkit"})
		require.NoError(p, err)
	}
	if obj.GetNamespace() == "" {
		p.Cleanup(func() {
			err := p.server.Delete(context.WithoutCancel(p.Context()), deploy.RefOf(obj), deploy.DeleteOptions{})
			var absent *deploy.NotFoundError
			if !errors.As(err, &absent) {
				assert.NoError(p, err)
			}
		})
	}
}

// compare makes a change of what is there, in all ways in which it can be made, and changes nothing.
func (p *prober) compare(live *unstructured.Unstructured, e fieldEdit) {
	p.Helper()
	next := edited(live, e)
	p.agree("apply: "+e.what, func(port deploy.Port) error {
		_, err := port.Apply(p.Context(), next, deploy.ApplyOptions{FieldManager: "operkit", Force: true, DryRun: true})
		return err
	})
	// Of what a server has filled in there is nothing in memory that could be replaced.
	whole, err := p.server.Get(p.Context(), deploy.RefOf(live))
	require.NoError(p, err)
	if e.path == nil || fmt.Sprint(e.path.of(whole.Object)) == fmt.Sprint(e.path.of(live.Object)) {
		p.agree("replacement: "+e.what, func(port deploy.Port) error { return p.replace(port, deploy.RefOf(live), e) })
	}
	_, err = p.memory.Create(p.Context(), next, deploy.CreateOptions{FieldManager: "operkit", DryRun: true})
	var exists *deploy.AlreadyExistsError
	assert.ErrorAs(p, err, &exists, "creation beside what is there: %s", e.what)
}

// agree has both clusters judge one request.
func (p *prober) agree(what string, try func(deploy.Port) error) {
	p.Helper()
	want, got := judgement(try(p.server)), judgement(try(p.memory))
	differs := func(cause string) bool { return !slices.Contains(want, cause) }
	more := len(want) > len(got) && (len(got) == 0 || !slices.Equal(ofChanges(want), got))
	if more || slices.ContainsFunc(got, differs) {
		p.Errorf("%s:\nthe server says: %q\nin memory:       %q", what, want, got)
	}
	p.verdicts++
}

// replace changes an object as it is, which controllers may change too.
func (p *prober) replace(port deploy.Port, ref deploy.Ref, e fieldEdit) error {
	for {
		whole, err := port.Get(p.Context(), ref)
		if err != nil {
			return err
		}
		_, err = port.Update(p.Context(), edited(whole, e), deploy.UpdateOptions{FieldManager: "operkit", DryRun: true})
		var stale *deploy.StaleError
		if !errors.As(err, &stale) {
			return err
		}
	}
}

// judgement are the causes of a refusal, without the values and differences that a server shows.
func judgement(err error) []string {
	var invalid *deploy.InvalidError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &invalid):
		return []string{fmt.Sprintf("%T: %v", err, err)}
	}
	var causes []string
	for _, cause := range invalid.Causes {
		line, _, _ := strings.Cut(cause.Message, "\n")
		if value, ok := strings.CutPrefix(line, "Invalid value: "); ok {
			line = value[max(0, strings.LastIndex(value, ": ")):]
		}
		causes = append(causes, cause.Field+": "+strings.TrimPrefix(line, ": "))
	}
	slices.Sort(causes)
	return slices.Compact(causes)
}

var changeWords = regexp.MustCompile(
	`immutable|may not (be )?change|cannot change|are forbidden|only (additions|deletion)`)

// ofChanges are the causes that are about a change. What a server has filled in may be at odds with what is set beside
// it, which it says too.
func ofChanges(causes []string) []string {
	return slices.DeleteFunc(slices.Clone(causes), func(cause string) bool { return !changeWords.MatchString(cause) })
}
