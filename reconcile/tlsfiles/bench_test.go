package tlsfiles_test

import (
	"os"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/tlsfiles"
)

// BenchmarkHandshake compares a handshake with one that reads the files before, which happens once a second, and shows
// what that reading costs alone.
func BenchmarkHandshake(b *testing.B) {
	ca := issue(b, nil, 100*time.Hour)
	s := open(b, secret(issue(b, ca, time.Hour, "web"), ca), tlsfiles.VerifyClients(), tlsfiles.ReadFile(os.ReadFile))
	run := func(name string, advance time.Duration, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s.clock.advance(advance)
				f()
			}
			s.clock.advance(start.Sub(s.clock.Now()))
		})
	}
	both := func() {
		if _, clientErr, serverErr := shake(b, s.Server(), s.Client("web")); clientErr != nil || serverErr != nil {
			b.Fatal(clientErr, serverErr)
		}
	}
	run("usual", 0, both)
	run("reads", time.Second, both)
	run("check", time.Second, func() { _ = s.Check() })
	run("look", 0, func() { _ = s.Digest() })
}
