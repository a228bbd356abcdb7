package tlsfiles

import (
	"os"
	"strings"
	"testing"
)

// FuzzParse has that no content is a panic, that what is taken can be served, and that errors don't repeat content.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "-----BEGIN CERTIFICATE-----\nTm8=\n-----END CERTIFICATE-----\n", "-----BEGIN", "text"} {
		f.Add([]byte(seed), []byte(seed), []byte(seed))
	}
	good := content{}
	for file, into := range map[string]*[]byte{"tls.crt": &good.certificate, "tls.key": &good.key} {
		text, err := os.ReadFile("testdata/" + file)
		if err != nil {
			f.Fatal(err)
		}
		*into = text
	}
	f.Add(good.certificate, good.key, good.certificate)
	f.Add(good.certificate, good.certificate, good.key)
	files := Secret("d")
	f.Fuzz(func(t *testing.T, certificate, key, ca []byte) {
		m, err := parse(files, content{certificate, key, ca})
		if err != nil {
			for _, known := range []string{"has ", "isn't the key"} {
				if strings.Contains(err.Error(), known) && len(err.Error()) < 100 {
					return
				}
			}
			t.Fatalf("another error: %v", err)
		}
		if m.pair.Leaf == nil || m.pair.PrivateKey == nil || m.pool == nil || m.digest == "" {
			t.Fatal("incomplete")
		}
	})
}
