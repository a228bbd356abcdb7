package operator

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestPoll(t *testing.T) {
	t.Parallel()
	t.Run("webhooks 12: CAs in a file that have changed are told, and those that can't be read aren't", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var text atomic.Value
			var told atomic.Int64
			text.Store("a")
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				poll(func() ([]byte, error) {
					if now := text.Load().(string); now != "" {
						return []byte(now), nil
					}
					return nil, errors.New("no such file")
				})(ctx, func() { told.Add(1) })
			}()
			for _, row := range []struct {
				reason, text string // no text: it can't be read
				told         int64
			}{
				{"the first time, and nothing has changed", "a", 1},
				{"other CAs", "b", 2},
				{"no file", "", 2},
				{"the same again", "b", 2},
				{"other CAs again", "a", 3},
			} {
				text.Store(row.text)
				time.Sleep(looking)
				synctest.Wait()
				assert.Equal(t, row.told, told.Load(), row.reason)
			}
			cancel()
			<-ended
		})
	})
}
