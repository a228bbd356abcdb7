package trigger

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func rules(sources source.Sources) *Rules {
	return NewRules(widgets, sources, deploy.Domain, slog.New(slog.DiscardHandler))
}

// said are rules that tell what they log.
func said(sources source.Sources) (*Rules, *strings.Builder) {
	var log strings.Builder
	return NewRules(widgets, sources, "example.dev", slog.New(slog.NewTextHandler(&log, nil))), &log
}

func annotated(annotations map[string]string) *unstructured.Unstructured {
	obj := object(widgets, "shop", "a", "a")
	obj.SetGeneration(1)
	obj.SetAnnotations(annotations)
	return obj
}

func TestForced(t *testing.T) {
	t.Parallel()
	const key = "operkit.dev/reconcile-at"
	never := rules(source.Sources{When: filter.Never()})
	now := annotated(map[string]string{key: "now"})
	for _, row := range []struct {
		reason string
		event  deploy.Event
		want   bool
	}{
		{"it comes", modified(annotated(nil), now), true},
		{"it changes", modified(now, annotated(map[string]string{key: "later"})), true},
		{"watch 15: a time that is long over is as good as any", modified(now, annotated(map[string]string{key: "0001-01-01T00:00:00Z"})), true},
		{"watch 15: and so is one that is far ahead", modified(now, annotated(map[string]string{key: "9999-12-31T23:59:59Z"})), true},
		{"it is taken off: that is tidying up", modified(now, annotated(nil)), false},
		{"it becomes empty: the same", modified(now, annotated(map[string]string{key: ""})), false},
		{"it stays", modified(now, now), false},
		{"another one changes", modified(now, annotated(map[string]string{key: "now", "a": "b"})), false},
		{"of another domain", modified(annotated(nil), annotated(map[string]string{"oper8.org/reconcile-at": "now"})), false},
		{"it is there from the start", added(now), false},
		{"it is there at the end", deleted(now), false},
		{"it left the view with it", left(now), false},
		{"it makes no sense", modified(annotated(nil), &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{key: int64(1)}}}}), false},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			counts, forced := never.Counts(row.event)
			assert.Equal(t, row.want, forced)
			assert.Equal(t, row.want, counts, "whatever the filter says")
		})
	}
	other, _ := said(source.Sources{})
	_, forced := other.Counts(modified(annotated(nil), annotated(map[string]string{"example.dev/reconcile-at": "now"})))
	assert.True(t, forced, "the domain is the engine's")
}

// Under a lock for each object its being taken and released would bring it again and again.
func TestLeasesNeverCount(t *testing.T) {
	t.Parallel()
	before := annotated(nil)
	before.Object["spec"] = map[string]any{"size": int64(1)}
	taken := annotated(map[string]string{"operkit.dev/lease-name": "replica-1"})
	taken.Object["spec"] = map[string]any{"size": int64(1)}
	counts, _ := rules(source.Sources{When: filter.Always()}).Counts(modified(before, taken))
	assert.False(t, counts, "watch 35, mistake 8: whatever the filter says")
	taken.Object["spec"] = map[string]any{"size": int64(2)}
	counts, _ = rules(source.Sources{When: filter.Always()}).Counts(modified(before, taken))
	assert.True(t, counts)
}

func TestLeftNeverCounts(t *testing.T) {
	t.Parallel()
	counts, forced := rules(source.Sources{When: filter.Always()}).Counts(left(annotated(nil)))
	assert.False(t, counts || forced)
}

func TestWhy(t *testing.T) {
	t.Parallel()
	here := annotated(nil)
	leaving := annotated(nil)
	leaving.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
	for _, row := range []struct {
		reason          string
		event           deploy.Event
		listing, forced bool
		want            request.Triggers
	}{
		{"it was there", added(here), true, false, request.Listed},
		{"it comes", added(here), false, false, request.Changed},
		{"it changes while others are listed", modified(here, here), true, false, request.Changed},
		{"it changes and somebody forces it", modified(here, here), false, true, request.Changed | request.Forced},
		{"its deletion has begun before", added(leaving), true, false, request.Deleting},
		{"it is gone", deleted(leaving), false, false, request.Deleted},
	} {
		assert.Equal(t, row.want, Why(row.event, row.listing, row.forced), row.reason)
	}
}

// What has changed while nobody was there comes before what was merely listed.
func TestWhyOfWhatIsListed(t *testing.T) {
	t.Parallel()
	changed := request.Listed | request.Changed
	for reason, row := range map[string]struct {
		status any
		want   request.Triggers
	}{
		"nothing is known of it":                   {nil, request.Listed},
		"its status speaks of its generation":      {map[string]any{"observedGeneration": int64(3)}, request.Listed},
		"of an older one":                          {map[string]any{"observedGeneration": int64(2)}, changed},
		"a condition does":                         {map[string]any{"conditions": []any{map[string]any{"observedGeneration": int64(2)}}}, changed},
		"another condition is newer":               {map[string]any{"conditions": []any{map[string]any{"observedGeneration": int64(2)}, map[string]any{"observedGeneration": int64(3)}}}, request.Listed},
		"conditions tell none":                     {map[string]any{"conditions": []any{map[string]any{"type": "Ready"}, nil}}, request.Listed},
		"of one that is newer, by a restored copy": {map[string]any{"observedGeneration": int64(4)}, request.Listed},
		"a status that is none":                    {"fine", request.Listed},
		"conditions that are none":                 {map[string]any{"conditions": "fine", "observedGeneration": "2"}, request.Listed},
	} {
		here := annotated(nil)
		here.SetGeneration(3)
		here.Object["status"] = row.status
		assert.Equal(t, row.want, Why(added(here), true, false), reason)
		assert.Equal(t, request.Changed, Why(added(here), false, false), reason)
	}
}

func TestMappedKeys(t *testing.T) {
	t.Parallel()
	a := deploy.Ref{Namespace: "shop", Name: "a"}
	keys := func(of ...deploy.Ref) func(deploy.Event) []deploy.Ref {
		return func(deploy.Event) []deploy.Ref { return of }
	}
	full := a
	full.Kind = widgets
	older := a
	older.Kind = schema.GroupVersionKind{Group: "example.dev", Version: "v1alpha1", Kind: "Widget"}
	event := added(object(regions, "", "north", "north"))
	for _, row := range []struct {
		reason string
		mapped source.Mapped
		event  deploy.Event
		want   []deploy.Ref
	}{
		{"a key without a kind is one of the kind", source.Mapped{Keys: keys(a)}, event, []deploy.Ref{full}},
		{"a whole one", source.Mapped{Keys: keys(full)}, event, []deploy.Ref{full}},
		{"watch mistake 22: of another version", source.Mapped{Keys: keys(older)}, event, []deploy.Ref{full}},
		{"nobody", source.Mapped{Keys: keys()}, event, nil},
		{"what isn't filtered out", source.Mapped{When: filter.Created(), Keys: keys(a)}, event, []deploy.Ref{full}},
		{"what is", source.Mapped{When: filter.Deletion(), Keys: keys(a)}, event, nil},
		{"watch 29: a repetition", source.Mapped{Keys: keys(a)}, deploy.Event{Type: deploy.Modified, Old: event.New, New: event.New}, nil},
		{"what left the view", source.Mapped{Keys: keys(a)}, left(event.New), nil},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			r, log := said(source.Sources{Mapped: []source.Mapped{row.mapped}})
			assert.Equal(t, row.want, r.Mapped(0, row.event))
			assert.Empty(t, log.String())
		})
	}
	t.Run("others' keys are left out, and that is said once", func(t *testing.T) {
		t.Parallel()
		foreign := deploy.Ref{Kind: regions, Name: "north"}
		r, log := said(source.Sources{Mapped: []source.Mapped{{Keys: keys(foreign, a, deploy.Ref{Namespace: "shop"})}}})
		for range 3 {
			assert.Equal(t, []deploy.Ref{full}, r.Mapped(0, event))
		}
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		assert.Len(t, lines, 2)
		assert.Contains(t, lines[0], `level=ERROR msg="key ignored: a source returned a key of another kind" kind=Widget`)
		assert.Contains(t, lines[0], "Region north")
		assert.Contains(t, lines[1], `level=ERROR msg="key ignored: a source returned a key without a name" kind=Widget`)
	})
}

func TestWhatUsersWrotePanics(t *testing.T) {
	t.Parallel()
	t.Run("watch mistake 12: each is told of once", func(t *testing.T) {
		t.Parallel()
		broken := func(deploy.Event) bool { panic("boom") }
		r, log := said(source.Sources{
			When: broken, Owned: []source.Owned{{Kind: configMaps, When: broken}},
			Mapped: []source.Mapped{
				{Kind: regions, When: broken, Keys: func(deploy.Event) []deploy.Ref { return []deploy.Ref{{Name: "a"}} }},
				{Kind: regions, Keys: func(deploy.Event) []deploy.Ref { panic("boom") }},
			},
		})
		event := added(annotated(nil))
		for range 3 {
			counts, _ := r.Counts(event)
			assert.True(t, counts)
			assert.True(t, r.CountsOwned(configMaps, event))
			assert.Len(t, r.Mapped(0, event), 1)
			assert.Empty(t, r.Mapped(1, event))
		}
		for _, of := range []string{"Widget.example.dev", `"ConfigMap of Widget.example.dev"`, `"Region.example.dev mapped to Widget.example.dev"`} {
			assert.Equal(t, 1, strings.Count(log.String(), fmt.Sprintf("a filter panicked: its event counts\" kind=%s value=boom", of)), log.String())
		}
		assert.Equal(t, 1, strings.Count(log.String(), "a mapping panicked: its event is ignored"))
	})
}

func TestCountsOwned(t *testing.T) {
	t.Parallel()
	r := rules(source.Sources{Owned: []source.Owned{{Kind: configMaps, When: filter.Deletion()}, {Kind: regions}}})
	event := added(annotated(nil))
	assert.False(t, r.CountsOwned(configMaps, event))
	assert.False(t, r.CountsOwned(schema.GroupVersionKind{Version: "v2", Kind: "ConfigMap"}, event), "whatever the version")
	assert.True(t, r.CountsOwned(regions, event))
	assert.True(t, r.CountsOwned(widgets, event), "what isn't declared has what it had")
	assert.Len(t, r.Sources().Owned, 2)
}
