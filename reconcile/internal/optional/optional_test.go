package optional

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
)

type closer interface{ Close() error }
type namer interface{ Name(short bool) string }

type right struct{}

func (right) Close() error     { return nil }
func (right) Name(bool) string { return "" }

type wrong struct{}

func (wrong) Close()       {}
func (wrong) Name() string { return "" }

type pointed struct{}

func (*pointed) Close() error { return nil }

func TestCheck(t *testing.T) {
	t.Parallel()
	interfaces := []reflect.Type{reflect.TypeFor[namer](), reflect.TypeFor[closer]()}
	for reason, row := range map[string]struct {
		value any
		want  string
	}{
		"as they should be":  {right{}, ""},
		"none of them":       {struct{}{}, ""},
		"nothing":            {nil, ""},
		"a pointer":          {&pointed{}, ""},
		"other signatures":   {wrong{}, "optional.wrong: its method Close is (): make it () error\noptional.wrong: its method Name is () string: make it (bool) string"},
		"a pointer receiver": {pointed{}, "optional.pointed: its method Close has a pointer receiver: pass a *optional.pointed"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			if err := Check(row.value, interfaces...); row.want == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, row.want)
			}
		})
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	set := func(to int) func(*int) { return func(n *int) { *n = to } }
	n := 1
	Apply(&n, []func(*int){set(2), nil, set(3), nil})
	assert.Equal(t, 3, n, "the last one wins")
}
