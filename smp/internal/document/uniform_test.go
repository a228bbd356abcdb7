package document

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUniform(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	for name, row := range map[string]struct {
		before, a, b  object
		scalars, same bool
	}{
		"as guessed":                      {object{"a": "1", "b": true}, object{"a": "2", "b": false}, object{"a": "2", "b": false}, true, true},
		"another value":                   {object{"a": "1"}, object{"a": "2"}, object{"a": "3"}, true, false},
		"another type":                    {object{"a": "1"}, object{"a": int64(1)}, object{"a": "1"}, true, false},
		"another key, as many":            {object{"a": "1"}, object{"b": "2"}, object{"b": "2"}, true, true},
		"another key in one":              {object{"a": "1"}, object{"a": "2"}, object{"b": "2"}, true, false},
		"a key more":                      {object{"a": "1"}, object{"a": "1", "b": "1"}, object{"a": "1", "b": "1"}, true, true},
		"a map among them":                {object{"a": "1", "b": "1"}, object{"a": "1", "b": object{"c": "1"}}, object{"a": "1", "b": object{"c": "1"}}, false, true},
		"another value in a map":          {object{"a": "1"}, object{"a": object{"c": "1"}}, object{"a": object{"c": "2"}}, false, false},
		"another key in a map":            {object{"a": "1"}, object{"a": object{"c": nil}}, object{"a": object{"d": nil}}, false, false},
		"a key more in a map":             {object{"a": "1"}, object{"a": object{}}, object{"a": object{"c": "1"}}, false, false},
		"a map and none":                  {object{"a": "1"}, object{"a": object{}}, object{"a": nil}, false, false},
		"too deep to be worth it":         {object{"a": "1"}, object{"a": object{"b": object{}}}, object{"a": object{"b": object{}}}, false, false},
		"null may be another key's":       {object{"a": "1"}, object{"b": nil}, object{"c": nil}, false, false},
		"a float isn't worth it":          {object{"a": "1"}, object{"a": 1.5}, object{"a": 1.5}, false, false},
		"empty ones":                      {object{}, object{}, object{}, true, true},
		"more keys than are worth it":     {object{"a": "", "b": "", "c": "", "d": "", "e": ""}, object{"a": "", "b": "", "c": "", "d": "", "e": ""}, object{}, false, false},
		"none, after too many to look at": {object{"a": "", "b": "", "c": "", "d": "", "e": ""}, object{}, object{}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var u Uniform
			u.Scalars(row.before)
			assert.Equal(t, row.scalars, u.Scalars(row.a))
			u = Uniform{}
			u.Same(row.before, row.before)
			assert.Equal(t, row.same, u.Same(row.a, row.b))
		})
	}
}
