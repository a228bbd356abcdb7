package waiting

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
)

func TestAt(t *testing.T) {
	assert.Empty(t, Bubble(), "outside of a bubble")
	assert.Empty(t, At(""))
	synctest.Test(t, func(t *testing.T) {
		wait := make(chan int)
		go func() { <-wait }()
		synctest.Wait()
		assert.Regexp(t, `^synctest bubble \d+$`, Bubble())
		assert.Equal(t, []string{"waiting_test.go:15 (chan receive)"}, At(Bubble()))
		close(wait)
	})
}

func TestPlace(t *testing.T) {
	const (
		head  = "goroutine 7 [sync.Mutex.Lock, synctest bubble 3]:\nsync.(*Mutex).Lock(...)\n\t/go/src/sync/mutex.go:46\n"
		mine  = "shop/web.(*Front).Build(0x0)\n\t/home/me/shop/web/front.go:57 +0x1d\n"
		ours  = "github.com/operkit/operkit/reconcile.(*Session).Run(0x1)\n\t/home/me/operkit/reconcile/session.go:12 +0x2a\n"
		maker = "created by shop.main in goroutine 1\n\t/home/me/shop/main.go:5 +0x20"
	)
	for reason, row := range map[string]struct{ stack, root, want string }{
		"the code of a user":           {head + mine + ours + maker, "/go/src/", "front.go:57 (sync.Mutex.Lock)"},
		"called by ours":               {head + ours + mine + maker, "/go/src/", "front.go:57 (sync.Mutex.Lock)"},
		"who began it doesn't wait":    {head + ours + maker, "/go/src/", ""},
		"a build with -trimpath":       {"goroutine 7 [select (durable), synctest bubble 3]:\nsync.(*Mutex).Lock(...)\n\tsync/mutex.go:46\nexample.com/web.Build(0x0)\n\texample.com/web/front.go:57 +0x1d\n", "", "front.go:57 (select)"},
		"a test of the framework":      {head + "github.com/operkit/operkit/reconcile.wait(0x1)\n\t/a/wait_test.go:3 +0x2a\n", "/go/src/", "wait_test.go:3 (sync.Mutex.Lock)"},
		"nothing but a standard stack": {head, "/go/src/", ""},
	} {
		t.Run(reason, func(t *testing.T) { assert.Equal(t, row.want, place(row.stack, row.root)) })
	}
}
