// The players of this bot.
#pragma once

#include "crosstown/bot.h"

crosstown::Bot RandomBot();
crosstown::Bot ShibuyaBot();
