package recurrence

import "sync"

// maxKept bounds what a Cache keeps of expressions, about, in bytes: more than 7,000 of the usual length. When it is reached
// they are all forgotten.
const maxKept = 4 << 20

// Cache keeps zones once they are loaded, and expressions once they are parsed. There are only as many zones as the database
// has names. Safe for concurrent use. The zero value is ready; a nil Cache keeps nothing.
type Cache struct {
	zones sync.Map

	mu     sync.Mutex
	texts  map[string]expression // by the text; without those that break a rule
	kept   int                   // bytes that these take, about
	parsed int                   // how often a text was parsed
}

// parse is parseExpression, once for each text.
func (c *Cache) parse(text string) (expression, error) {
	if c == nil {
		return parseExpression(text)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.texts[text]; ok {
		return e, nil
	}
	c.parsed++
	e, err := parseExpression(text)
	if err != nil {
		return e, err
	}
	if c.kept += 512 + 2*len(text); c.texts == nil || c.kept > maxKept {
		c.texts, c.kept = map[string]expression{}, 512+2*len(text)
	}
	c.texts[text] = e
	return e, nil
}
