package source

import (
	"context"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	nobody := func(deploy.Event) []deploy.Ref { return nil }
	fetch := func(context.Context) (map[deploy.Ref]int, error) { return nil, nil }
	for _, row := range []struct {
		reason  string
		sources Sources
		want    string
	}{
		{"nothing at all is fine", Sources{}, ""},
		{"all of it is", Sources{
			When: filter.Standard(), Owned: []Owned{{Kind: configMaps}, {widgets, filter.Content()}},
			Mapped:   []Mapped{{Kind: configMaps, Keys: nobody}, {Kind: configMaps, Keys: nobody}},
			External: []External{Channel(make(chan deploy.Ref)), Poll(time.Second, fetch), Func(func(context.Context, Target) {})},
		}, ""},
		{"watch 31: an owned kind without a version", Sources{Owned: []Owned{{Kind: schema.GroupVersionKind{Kind: "Widget"}}}},
			`owned[0]: kind "/, Kind=Widget": needs a version and a kind`},
		{"watch mistake 18: one that is there twice", Sources{Owned: []Owned{{Kind: configMaps}, {Kind: configMaps}}},
			"owned[1]: ConfigMap: declared twice: join its filters by filter.And or filter.Or"},
		{"a mapped kind that is none", Sources{Mapped: []Mapped{{Keys: nobody}}}, `mapped[0]: kind "/, Kind=": needs a version and a kind`},
		{"kinds 5: an indexed kind that is none", Sources{Indexed: []Indexed{{Index: func(deploy.Event) {}}}}, `indexed[0]: kind "/, Kind=": needs a version and a kind`},
		{"kinds 5: one without a function", Sources{Indexed: []Indexed{{Kind: configMaps}}}, "indexed[0]: ConfigMap: nil Index"},
		{"one that maps nothing", Sources{Mapped: []Mapped{{Kind: configMaps}}}, "mapped[0]: ConfigMap: nil Keys"},
		{"no external source", Sources{External: []External{nil}}, "external[0]: nil source"},
		{"no function", Sources{External: []External{Func(nil)}}, "external[0]: nil source"},
		{"no channel", Sources{External: []External{Channel(nil)}}, "external[0]: nil channel"},
		{"watch mistake 25: no interval", Sources{External: []External{Poll(0, fetch)}}, "external[0]: interval 0s: it must be positive"},
		{"nothing to fetch by", Sources{External: []External{Poll[int](time.Second, nil)}}, "external[0]: nil fetch"},
		{"watch mistake 25: no interval for each", Sources{External: []External{PollEach[int](-time.Second, nil)}}, "external[0]: interval -1s: it must be positive"},
		{"nothing to fetch each by", Sources{External: []External{PollEach[int](time.Second, nil)}}, "external[0]: nil fetch"},
		{"all mistakes at once", Sources{Owned: []Owned{{}}, External: []External{nil}}, "owned[0]: kind \"/, Kind=\": needs a version and a kind\nexternal[0]: nil source"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			if row.want == "" {
				assert.NoError(t, row.sources.check())
				return
			}
			assert.EqualError(t, row.sources.check(), row.want)
		})
	}
}

type provider struct{ sources func() Sources }

func (p provider) Sources() Sources { return p.sources() }

type misspelt struct{}

func (misspelt) Sources() []Owned { return nil }

func TestOf(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		value  any
		want   int
		err    string
	}{
		{"what says something", provider{func() Sources { return Sources{Owned: []Owned{{Kind: configMaps}}} }}, 1, ""},
		{"what says nothing", struct{}{}, 0, ""},
		{"nothing", nil, 0, ""},
		{"a method of that name that is another one", misspelt{}, 0, "source.misspelt: its method Sources is () []source.Owned: make it () source.Sources"},
		{"mistakes", provider{func() Sources { return Sources{External: []External{nil}} }}, 0, "source.provider: its sources: external[0]: nil source"},
		{"watch mistake 12: a panic", provider{func() Sources { panic("boom") }}, 0, "source.provider: its method Sources panics: boom"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			sources, err := Of(row.value)
			assert.Len(t, sources.Owned, row.want)
			if row.err == "" {
				assert.NoError(t, err)
				return
			}
			assert.EqualError(t, err, row.err)
		})
	}
}
