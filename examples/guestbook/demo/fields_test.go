package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestChangedFields(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		reason        string
		before, after fields
		want          []string
	}{
		{"the same", fields{"spec": fields{"a": int64(1)}}, fields{"spec": fields{"a": int64(1)}}, nil},
		{"a value", fields{"spec": fields{"a": int64(1), "b": "x"}}, fields{"spec": fields{"a": int64(2), "b": "x"}}, []string{"spec.a"}},
		{"added and taken away", fields{"data": fields{"old": ""}}, fields{"data": fields{"new": ""}}, []string{"data.new", "data.old"}},
		{"a list is one field", fields{"l": []any{"a"}}, fields{"l": []any{"a", "b"}}, []string{"l"}},
		{"a whole part is one field", fields{}, fields{"spec": fields{"a": "x"}}, []string{"spec"}},
		{"another type", fields{"a": "x"}, fields{"a": fields{"b": "x"}}, []string{"a"}},
		{"bookkeeping and status don't count", fields{"metadata": fields{"v": "1"}, "status": fields{"s": "1"}}, fields{"metadata": fields{"v": "2"}, "status": fields{}}, nil},
	} {
		assert.Equal(t, test.want, changedFields(test.before, test.after), test.reason)
	}
}
