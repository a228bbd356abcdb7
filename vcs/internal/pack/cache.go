package pack

import "github.com/go-git/go-git/v5/plumbing"

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

// cache has objects that others may be differences to: those that were asked for last, up to a number of bytes. It is two generations: when the young
// one is half of all, it becomes the old one.
type cache struct {
	most, size int
	young, old map[place]content
}

// keeps tells whether an object is short enough to be kept.
func (c *cache) keeps(size int64) bool { return size <= int64(c.most/8) }

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
	if c.size += len(one.text); c.size > c.most/2 || c.young == nil {
		c.old, c.young, c.size = c.young, map[place]content{}, len(one.text)
	}
	c.young[at] = one
}
