package pack

import (
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/operkit/operkit/vcs/internal/inflate"
)

// place is where an object is.
type place struct {
	pack *Pack
	at   int64
}

// content is an unpacked object.
type content struct {
	kind plumbing.ObjectType
	text []byte
}

// overhead is about how many bytes an object takes that is kept, besides its own: the room behind these, and its place in the table.
const overhead = inflate.Room + 128

// cache has objects that others may be differences to: those that were asked for last, up to a number of bytes with what keeping them takes. It is two
// generations: when the young one is half of all, it becomes the old one.
type cache struct {
	most, size int
	young, old map[place]content
}

// keeps tells whether an object is short enough to be kept.
func (c *cache) keeps(size int64) bool { return size+overhead <= int64(c.most/8) }

func (c *cache) get(at place) (content, bool) {
	found, is := c.young[at]
	if is {
		return found, true
	}
	if found, is = c.old[at]; is {
		c.put(at, found)
	}
	return found, is
}

func (c *cache) put(at place, one content) {
	if !c.keeps(int64(len(one.text))) {
		return
	}
	size := len(one.text) + overhead
	if c.size += size; c.size > c.most/2 || c.young == nil {
		c.old, c.young, c.size = c.young, map[place]content{}, size
	}
	c.young[at] = one
}
