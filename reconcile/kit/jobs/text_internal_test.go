package jobs

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation"
)

func FuzzTail(f *testing.F) {
	for _, text := range []string{"", "a\nb", strings.Repeat("ü", 400), "\x00\n\r\x1b[1m", strings.Repeat(" \n", 700) + "end"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "?") // as JSON has it
		short := tail(text)
		assert.LessOrEqual(t, len(short), longestOutput, "jobs 17")
		assert.True(t, utf8.ValidString(short), "jobs 17")
		assert.False(t, strings.ContainsFunc(short, unicode.IsControl), "jobs 17")
	})
}

func FuzzNames(f *testing.F) {
	for _, text := range []string{"", "1", "postgres:18", strings.Repeat("x", 200), "-a-", "ü"} {
		f.Add("tea", "migrate", text)
		f.Add(strings.Repeat("t.", 60), "x-y", text)
	}
	f.Fuzz(func(t *testing.T, resource, component, value string) {
		base := resource + "-" + component
		name := nameOf(base, resource, component, value)
		if len(validation.IsDNS1123Subdomain(base)) == 0 {
			assert.Empty(t, validation.IsDNS1123Subdomain(name), "jobs 8")
			assert.LessOrEqual(t, len(name), longestName, "jobs 8")
		}
		assert.NotEqual(t, name, nameOf(base, resource, component, value+"."), "jobs 8")
		assert.NotEqual(t, name, nameOf(base, resource+"-"+component, "", value), "jobs 8")
	})
}
